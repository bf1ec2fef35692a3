-- Deploy qwf:functions/shared/_check_json
-- Purpose: Refuses a JSON value that is too large or nested too deeply.
-- Raises: QW005.
-- Called by: functions that store a JSON value of their caller.

begin;

create function _qwf.check_json(p_name text, p_value jsonb, p_max_bytes bigint default 65536)
returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_problem text := _qwf.json_problem(p_value, p_max_bytes);
begin
  if v_problem is not null then
    raise exception using errcode = 'QW005', message = 'value too large',
      detail = p_name || ' ' || v_problem,
      hint = 'put large data in a file or table and pass its path or id';
  end if;
end $$;

commit;
