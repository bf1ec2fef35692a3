-- Deploy qwf:functions/definitions/_key_problems
-- Purpose: Reports unknown keys, missing keys and values of the wrong type in one object of a
--   definition.
-- Guarantees: Returns one row per key. The hint for an unknown key is a similar key or, if there is
--   none, all keys. p_types maps each key to a JSON type, a list of types,
--   "any", "interval" or "node" (a key that only a node of a pipeline has).
-- Called by: the functions that check definitions.

begin;

create function _qwf.key_problems(p_object jsonb, p_types jsonb, p_required text[], p_path text)
returns setof _qwf.problem
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    select ltrim(p_path || '.' || member.key, '.'), verdict.problem, verdict.hint
    from jsonb_each(p_object) member
    left join jsonb_each(p_types) rule on rule.key = member.key
    cross join lateral (
      select 'unknown key' as problem, coalesce(
        _qwf.did_you_mean(member.key, array(select jsonb_object_keys(p_types))),
        'known keys: ' || (
          select string_agg(k.key, ', ' order by k.key)
          from jsonb_each(p_types) k where k.value <> '"node"')) as hint
      where rule.value is null
      union all
      select 'belongs to a node of a pipeline',
        'move it to that node in the definition of the pipeline'
      where rule.value = '"node"'
      union all
      select 'must be a duration of at most a year',
        'write it like "10 min", or as a number of seconds'
      where rule.value = '"interval"' and _qwf.as_interval(member.value) is null
      union all
      select
        format('must be of type %s, not %s',
          array_to_string(array(select jsonb_array_elements_text('[]' || rule.value)), ' or '),
          jsonb_typeof(member.value)),
        null
      where rule.value not in ('"any"', '"node"', '"interval"')
        and not _qwf.is_type(member.value, rule.value)
    ) verdict
    union all
    select ltrim(p_path || '.' || required.key, '.'), 'is missing', null
    from unnest(p_required) required (key)
    where not p_object ? required.key;
end $$;

commit;
