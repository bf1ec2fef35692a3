-- Deploy qwf:functions/queues/_limit_users
-- Purpose: Returns what would be refused without a limit: the nodes of current pipelines and the
--   steps of current workflows that name it, and the schedules whose options do; null: nothing.
-- Called by: drop_limit.

begin;

create function _qwf.limit_users(p_limit text, p_keyed boolean) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return string_agg(distinct u.what, '; ' order by u.what)
  from (
    select format('pipeline %s, node %s', p.name, n.value ->> 'id') as what,
      n.value ->> 'limit_by' as limit_by
    from qwf.pipelines p, jsonb_array_elements(p.definition -> 'nodes') n
    where p.current
    union all
    select format('workflow %s, step %s', w.name, s.value ->> 'id'), s.value ->> 'limit_by'
    from qwf.workflows w, jsonb_array_elements(w.definition -> 'steps') s
    where w.current
    union all
    select format('schedule %s', c.name), c.options ->> 'limit_by'
    from qwf.schedules c where c.enabled) u
  where u.limit_by = p_limit or p_keyed and split_part(u.limit_by, ':', 1) = p_limit;
end $$;

commit;
