-- 11 tests
select qwf.enqueue('a', '{"n": 1}');
select qwf_test.attempt('a', 'fatal');
select throws_ok(format('select qwf.retry_job(%s, %L)', qwf_test.job('a'), args), 'QW005',
  'invalid job', args)
from (values ('[1]'), ('"x"'), ('null')) v (args);
select qwf.change_settings('{"max_value_bytes": 100}');
select throws_ok(format($$ select qwf.retry_job(%s, jsonb_build_object('x', repeat('y', 100))) $$,
  qwf_test.job('a')), 'QW005', 'value too large', 'too large');
select results_eq($$ select status::text, inputs from qwf.jobs where task = 'a' $$,
  $$ values ('failed', '{"n": 1}'::jsonb) $$, 'nothing has changed');

select qwf_test.workflow('w', '[{"id": "n"}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/n', 'fatal');
select throws_ok(format($$ select qwf.retry_job(%s, '{"n": 2}') $$, qwf_test.job('s/n')),
  'QW005', 'a node takes its inputs from its workflow', 'a node');
select is(qwf_test.nodes(), 's/n failed', 'it was not retried');

select qwf.set_alert('bad', '{"when": ["overdue"], "do": {"receiver": "ops"}}');
select qwf.test_alert('bad');
select qwf.cancel_job(qwf_test.job('qwf.send'));
select throws_ok(format($$ select qwf.retry_job(%s, '{"receiver": "ops", "message": {}}') $$,
  qwf_test.job('qwf.send')), 'QW007', 'a job of the engine keeps its arguments',
  'nobody writes a message of an alert');
select lives_ok(format('select qwf.retry_job(%s)', qwf_test.job('qwf.send')), 'it is sent again');
select qwf.enqueue_run('w', limit_by => 'narrow') from qwf.create_limit('narrow', 1);
select qwf.cancel_run(qwf_test.run());
select throws_ok(format($$ select qwf.retry_job(%s, '{"x": 1}') $$, j.id), 'QW007',
  'a job of the engine keeps its arguments', 'a run in line takes none')
from qwf.jobs j where j.queue = 'qwf.runs';
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
