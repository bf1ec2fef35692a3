-- Deploy qwf:functions/queues/_expect_problems
-- Purpose: Returns what is wrong with what a schedule or queue expects.
-- Guarantees: Null is right: it expects nothing.
-- Called by: create_queue, _schedule_problems.

begin;

create function _qwf.expect_problems(p_expect jsonb, p_keys text[]) returns setof _qwf.problem
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select 'expect', 'must be an object', 'its keys are ' || array_to_string(p_keys, ', ')
  where jsonb_typeof(p_expect) <> 'object'
  union all
  select 'expect.' || left(e.key, 100),
    case when e.key = any (p_keys) then 'must be a duration of at most a year'
      else 'unknown key' end,
    case when e.key = any (p_keys) then 'write it like "10 min", or as a number of seconds'
      else coalesce(_qwf.did_you_mean(e.key, p_keys),
        'its keys are ' || array_to_string(p_keys, ', ')) end
  from jsonb_each(case jsonb_typeof(p_expect) when 'object' then p_expect end) e
  where e.key <> all (p_keys) or _qwf.as_interval(e.value) is null
  limit 100  -- more than anybody reads
$$;

commit;
