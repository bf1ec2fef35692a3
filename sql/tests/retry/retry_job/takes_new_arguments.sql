-- 9 tests
select qwf.enqueue('a', '{"to": "x", "none": null}', key => 'k'), qwf.enqueue('b');
select qwf_test.claim('default', 2);
select throws_ok(format('select qwf.retry_job(%s, %L)', qwf_test.job('a'), '{"to": "y"}'),
  'QW002', 'the job has not failed or been cancelled', 'a running job keeps its arguments');
select qwf_test.report('a', 'fatal'), qwf_test.report('b', 'fatal');
select lives_ok(format('select qwf.retry_job(%s, %L)', qwf_test.job('a'), '{"to": "y"}'), 'given');
select results_eq(format($$
  select kind, detail from qwf.event_overview where job_id = %s and kind = 'retried' $$,
  qwf_test.job('a')), $$ values ('retried', '{"old_args": {"to": "x", "none": null}}'::jsonb) $$,
  'the event has the old ones, complete');
select is((select c.inputs from qwf.claim('default', 'w', 1) c), '{"to": "y"}',
  'the body gets the new ones');
select is((select inputs from qwf.jobs where task = 'a'), '{"to": "y"}', 'and so does the row');

select qwf.retry_job(qwf_test.job('b'), '{}');
select is((select detail from qwf.event_overview where job_id = qwf_test.job('b')
  and kind = 'retried'), '{}', 'the same arguments are no change');
select qwf.cancel_job(qwf_test.job('b')), qwf.retry_job(qwf_test.job('b'), '{"n": 1}'),
  qwf.cancel_job(qwf_test.job('b')), qwf.retry_job(qwf_test.job('b'));
select is((select inputs from qwf.jobs where task = 'b'), '{"n": 1}', 'without some, they stay');
select is((select array_agg(detail order by id) from qwf.event_overview
  where job_id = qwf_test.job('b') and kind = 'retried'),
  '{"{}","{\"old_args\": {}}","{}"}', 'each event has what it replaced');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
