-- Deploy qwf:functions/change/_check_change
-- Purpose: Refuses a queue or a limit that does not exist, a limit inside itself, a time that
--   no client can read, and a time for a job that runs next.
-- Locks: the limit, against being dropped.
-- Raises: QW001 unknown limit, QW005 a limit that counts by key without a key or is inside
--   itself, invalid time or a time with run_next, QW006 unknown queue.
-- Called by: change_job, change_jobs.

begin;

create function _qwf.check_change(
  p_jobs bigint[], p_queue text, p_run_at timestamptz, p_run_next boolean, p_limit_by text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_inside record;
begin
  if not _qwf.is_readable_time(p_run_at) then
    raise exception using errcode = 'QW005', message = 'invalid time',
      detail = format('run_at: %s', p_run_at),
      hint = 'give a time within the years 1 to 9999, or infinity';
  elsif p_queue is not null and (starts_with(p_queue, 'qwf.')
    or not exists (select from qwf.queues q where q.name = p_queue))
  then
    perform _qwf.raise_unknown_queue(p_queue);
  elsif p_run_next and p_run_at is not null then
    raise exception using errcode = 'QW005', message = 'run_next excludes run_at',
      detail = format('run_at: %s', p_run_at),
      hint = 'a job that runs next is due now: leave out one of them';
  end if;
  if p_limit_by <> '' then
    perform _qwf.lock_limits(p_limit_by);
    perform _qwf.check_limit('', p_limit_by);  -- a new statement: it sees what was waited for
    select j.id, i.node into v_inside
    from qwf.jobs j
    left join qwf.runs r on r.parent_id = j.id and j.run_id is null  -- in line
    left join qwf.graph_nodes n on n.graph_id = j.graph_id and n.idx = j.node_idx
    cross join lateral (
      select case when p_limit_by = any (_qwf.limits_above(j.run_id)) then 'a run above it holds it'
        else _qwf.limit_inside(coalesce(r.graph_id, n.child_graph_id), array[p_limit_by])
          || ' needs it, too' end as node) i
    where j.id = any (p_jobs) and (j.run_id is not null or j.queue = 'qwf.runs')
      and i.node is not null
    order by j.id limit 1;
    if found then
      raise exception using errcode = 'QW005', message = 'a limit inside itself',
        detail = format('job %s, limit_by %s: %s', v_inside.id, p_limit_by, v_inside.node),
        hint = 'give it another limit: it would wait for itself';
    end if;
  end if;
end $$;

commit;
