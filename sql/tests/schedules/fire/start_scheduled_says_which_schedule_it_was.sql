-- 2 tests
select qwf_test.set_now('2030-01-01');
select qwf_test.workflow('w', '[{"id": "a"}]');
select qwf.create_schedule('nightly', workflow => 'w', every => '1 h');
select qwf.enqueue_run('w', labels => '{"schedule": "hourly"}');
select qwf_test.travel('1 h');
select is(_qwf.fire_schedules(), 1, 'a run of a schedule');
select results_eq('select schedule, login from qwf.runs order by id',
  $$ values (null, qwf_test.login()), ('nightly', qwf_test.login()) $$,
  'which says so, as one with such a label does not');
