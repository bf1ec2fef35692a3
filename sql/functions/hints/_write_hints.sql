-- Deploy qwf:functions/hints/_write_hints
-- Purpose: Keeps hints in a setting of this session, for _read_hints.
-- Called by: _rest_when_idle, _store_floor.

begin;

create function _qwf.write_hints(p_setting text, p_hints jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform set_config(p_setting, case
    when p_hints = '{}' then ''
    else _qwf.signature(p_setting || p_hints::text) || p_hints::text end, false);
end $$;

commit;
