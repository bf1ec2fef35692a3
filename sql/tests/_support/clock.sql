-- A clock that tests set. Replacing qwf.now() is undone by the rollback at the end of a test.

create function qwf_test.set_now(p_now timestamptz) returns void
language plpgsql
as $$
begin
  perform set_config('qwf_test.now', p_now::text, true);
  create or replace function qwf.now() returns timestamptz
  language sql volatile
  as 'select current_setting(''qwf_test.now'')::timestamptz';
end $$;
comment on function qwf_test.set_now(timestamptz) is
  'Stops the clock of the engine at a time, until the transaction ends.';

create function qwf_test.travel(p_by interval) returns void
language plpgsql
as $$
begin
  perform qwf_test.set_now(qwf.now() + p_by);
end $$;
comment on function qwf_test.travel(interval) is
  'Moves the clock of the engine, and stops it there.';
