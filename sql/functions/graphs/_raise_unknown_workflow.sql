-- Deploy qwf:functions/graphs/_raise_unknown_workflow
-- Purpose: Raises QW001 and suggests the name that was probably meant.
-- Raises: QW001, always.
-- Called by: _graph_for.

begin;

create function _qwf.raise_unknown_workflow(p_workflow text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_name text := split_part(p_workflow, '@', 1);
  v_last int := (select max(w.version) from qwf.workflows w where w.name = v_name);
begin
  raise exception using
    errcode = 'QW001',
    message = 'unknown workflow',
    detail = case when v_last is null then format('there is no workflow %L',
        left(p_workflow, 200))
      else format('workflow %L has versions 1 to %s', v_name, v_last) end,
    hint = case
      when v_last is not null then 'omit the version to get the current one'
      else coalesce(
        _qwf.did_you_mean(v_name, array(select w.name from qwf.workflows w where w.current)),
        'register it first: qwf apply DIR, or select qwf.register_workflow(''{...}'')')
    end;
end $$;

commit;
