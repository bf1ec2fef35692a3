-- 5 tests
select qwf_test.set_now('2026-03-01 12:00:30+00');

select qwf_test.workflow('w', '[{"id": "a"}]');
select qwf.create_schedule('nightly', workflow => 'w', cron => '0 13 * * *', args => '{"n": 1}',
  priority => 7, project => 'p');
select qwf_test.set_now('2026-03-01 13:00:01+00');
select is(_qwf.fire_schedules(), 1, 'at the minute');
select results_eq('select workflow, context, priority, project, labels from qwf.runs',
  $$ values ('w', '{"n": 1}'::jsonb, 7, 'p',
    '{"schedule": "nightly", "due": "2026-03-01T13:00:00Z"}'::jsonb) $$, 'with its arguments');
select is((select last_run_id from qwf.schedules), qwf_test.run(), 'the schedule records its run');
select is(qwf_test.nodes(), 's/a queued', 'its node is queued');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
