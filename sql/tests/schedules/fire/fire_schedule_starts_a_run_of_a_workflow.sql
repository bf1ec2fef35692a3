-- 4 tests
select qwf_test.workflow('w', '[{"id": "a"}]');
select qwf.create_schedule('x', workflow => 'w', cron => '@daily', enabled => false);
update qwf.schedules set last_error = 'no such workflow';
create temp table started as select * from qwf.fire_schedule('x');
select results_eq('table started', 'select null::bigint, qwf_test.run()',
  'a schedule that is switched off fires, too');
select results_eq('select enabled, next_at, last_run_id, last_error from qwf.schedules',
  'select false, null::timestamptz, qwf_test.run(), null::text', 'and stays off');
select results_eq('select kind, run_id, job_id from _qwf.event_log where run_id is not null',
  $$ select 'fired', qwf_test.run(), null::bigint $$, 'the run has the event');

select is(schedule, 'x', 'and says which schedule began it') from qwf.runs;
