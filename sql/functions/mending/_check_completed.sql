-- Deploy qwf:functions/mending/_check_completed
-- Purpose: Refuses a retry that runs a completed node again that its compensation node has not
--   taken back, unless the caller says what is to become of what it did: it would be done twice,
--   and taken back once. Refuses that word, too, if nothing needs it.
-- Raises: QW002, QW005.
-- Called by: retry_plan, retry_run.

begin;

create function _qwf.check_completed(
  p_run bigint, p_plan _qwf.planned[], p_completed text)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_node text;
  v_by text;
begin
  select p.node_id, p.undo into v_node, v_by
  from unnest(p_plan) p where p.undo is not null
  order by p.idx limit 1;
  if p_completed not in ('compensate', 'keep') then
    raise exception using errcode = 'QW005', message = 'invalid choice',
      detail = format('completed: compensate or keep, not %L', left(p_completed, 200)),
      hint = 'say compensate to take back first what runs again, or keep to leave it as it is';
  elsif p_completed is not null and v_node is null then
    raise exception using errcode = 'QW005', message = 'there is nothing to compensate or keep',
      detail = format('no node of run %s runs again that has completed and can be taken back',
        p_run),
      hint = 'leave completed out';
  elsif p_completed is null and v_node is not null then
    raise exception using errcode = 'QW002', message = 'a node runs again that was not taken back',
      detail = format('%s of run %s has completed, and %s has not taken it back', v_node, p_run,
        v_by),
      hint = 'retry_run with completed => ''compensate'' takes it back first; with completed => '
        '''keep'' it stays as it is, and runs once more';
  end if;
end $$;

commit;
