-- Deploy qwf:functions/mending/_refuse_maybe_run
-- Purpose: Refuses a retry that would run a body again that runs at most once and may have run,
--   unless the caller names its node, the map of which it is an element, or the step whose run has
--   it. Refuses names of no node.
-- Raises: QW001, QW002.
-- Called by: _line_up_again, _mend_run.

begin;

create function _qwf.refuse_maybe_run(
  p_run qwf.runs, p_graph bigint, p_plan _qwf.planned[], p_from_node text, p_named text[])
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_found record;
begin
  perform _qwf.check_from_node(p_run, p_graph, n) from unnest(p_named) n
  where n not in (select u.node_id from _qwf.maybe_run(p_plan, p_from_node) u);
  select count(*) as count, array_agg(distinct m.named) as named,
    string_agg(format('%s of run %s', m.node_id, m.run_id), ', ' order by m.run_id, m.node_id)
      filter (where m.n <= 5) as first
    into v_found
  from (
    select u.*, row_number() over () as n
    from _qwf.maybe_run(p_plan, p_from_node) u
    where u.named <> all (p_named) and u.node_id <> all (p_named)
  ) m;
  if v_found.count > 0 then
    raise exception using errcode = 'QW002', message = 'it may have run',
      detail = v_found.first
        || case when v_found.count > 5 then format(' and %s more', v_found.count - 5) else '' end,
      hint = format('look whether it has run; if it has not, name it: '
        'select qwf.retry_run(%s, named => %L)', p_run.id, p_named || v_found.named);
  end if;
end $$;

commit;
