-- 2 tests
create function pg_temp.hint(p_keys jsonb) returns text language plpgsql as $$
declare
  v_hint text;
begin
  perform qwf_test.question('confirm', p_keys);
  return 'accepted';
exception
  when sqlstate 'QW003' then
    get stacked diagnostics v_hint = pg_exception_hint;
    return v_hint;
end $$;
select is(pg_temp.hint('{"shows": "a.png"}'), 'did you mean show?', 'the nearest key');
select is(pg_temp.hint('{"show": "a.png"}'), 'accepted', 'the key itself');
