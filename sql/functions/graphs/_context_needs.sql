-- Deploy qwf:functions/graphs/_context_needs
-- Purpose: Returns what a step and its nodes need from the context of a run: every path that they
--   read without a fallback, with the place of the reference.
-- Guarantees: Each path is returned once, with its first reader. A reference with a $default, or
--   inside a $coalesce or a $default, needs nothing. What is read only if a skip_if is not true
--   has that skip_if as "unless", and "later" if the skip_if reads anything but the context.
-- Called by: _compile_node_step, _compile_step.

begin;

create function _qwf.context_needs(
  p_step jsonb, p_nodes jsonb, p_step_names jsonb, p_node_names jsonb)
returns jsonb
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_skip_if jsonb := _qwf.with_absolute_references(p_step -> 'skip_if', p_step_names);
begin
  return (
    with reader (path, item, skip_if, names) as (
      select p_step ->> 'id', p_step, v_skip_if, p_step_names
      where p_step::text ~ '"[$]from"'
      union all
      select format('%s/%s', p_step ->> 'id', n ->> 'id'), n - 'outputs',
        coalesce(_qwf.with_absolute_references(n -> 'skip_if', p_node_names), v_skip_if),
        p_node_names
      from jsonb_array_elements(_qwf.as_list(p_nodes)) n
      where n::text ~ '"[$]from"'
    ), need as (
      select distinct on (s.segments, guard.skip_if) e.path, s.segments, guard.skip_if
      from reader r
      cross join lateral jsonb_each(r.item) m
      cross join lateral _qwf.expressions(m.value, r.path || '.' || m.key) e
      cross join lateral (
        select _qwf.segments(e.expression -> '$from') as segments offset 0) s
      cross join lateral (select case when m.key <> 'skip_if' then r.skip_if end as skip_if) guard
      where not e.optional and not e.expression ? '$default' and not r.names ? s.segments[1]
        and s.segments[1] <> 'run'
      order by s.segments, guard.skip_if, e.path
    )
    select coalesce(
      jsonb_agg(
        jsonb_build_object('path', n.path, 'needs', n.segments, 'unless', n.skip_if)
          || case when exists (
            select from _qwf.absolute_paths(n.skip_if) p where p -> 0 <> '"$context"')
          then '{"later": true}' else '{}' end::jsonb
        order by n.path), '[]')
    from need n);
end $$;

commit;
