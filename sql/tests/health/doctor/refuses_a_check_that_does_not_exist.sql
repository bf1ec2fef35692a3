-- 3 tests
create function pg_temp.hint(p_checks text[]) returns text language plpgsql as $$
declare
  v_hint text;
begin
  perform qwf.doctor(p_checks);
  return null;
exception when sqlstate 'QW005' then
  get stacked diagnostics v_hint = pg_exception_hint;
  return v_hint;
end $$;
select is(pg_temp.hint('{tick,queue}'), 'did you mean queues?', 'it says which one may be meant');
select matches(pg_temp.hint('{xyz}'), '^the checks are server, roles,', 'or which there are');
select matches(pg_temp.hint('{null}'), '^the checks are', 'null is none');
