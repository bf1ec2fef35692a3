-- 2 tests
create function pg_temp.hint(p_items jsonb) returns text language plpgsql as $$
declare
  v_hint text;
begin
  perform qwf.enqueue_many(p_items);
exception
  when sqlstate 'QW005' then
    get stacked diagnostics v_hint = pg_exception_hint;
    return v_hint;
end $$;
select is(pg_temp.hint('[{"task": "a", "prioritty": 1}]'), 'did you mean priority?', 'nearly');
select alike(pg_temp.hint('[{"task": "a", "zzz": 1}]'), '%known keys are task, args, queue,%',
  'no key is near: all of them');
