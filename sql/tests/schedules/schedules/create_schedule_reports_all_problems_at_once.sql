-- 4 tests
select throws_ok($$ select qwf.create_schedule('A b', every => '1 month') $$, 'QW005',
  'invalid schedule', 'one error');
select qwf_test.explains(
  $$ select qwf.create_schedule('A b', 't', cron => '70 25 * * *', timezone => 'Europe/Berln',
       args => '[]', queue => 'none', catch_up => 'some', overlap => null) $$,
  E'name: %\nqueue: %\ncatch_up: %\noverlap: %\ncron minute: %\ncron hour: %\ntimezone: %'
  '\nargs: %', 'lists all problems');
select throws_ok(
  $$ select qwf.create_schedule('x', 't', cron => '@daily', timezone => 'Europe/Berln') $$,
  'QW005', 'invalid schedule', 'a typing error');
do $$
declare
  v_hint text;
begin
  perform qwf.create_schedule('x', 't', cron => '@daily', timezone => 'Europe/Berln');
exception
  when others then
    get stacked diagnostics v_hint = pg_exception_hint;
    perform set_config('qwf_test.hint', v_hint, true);
end $$;
select is(current_setting('qwf_test.hint'), 'did you mean Europe/Berlin?', 'is recognized');
