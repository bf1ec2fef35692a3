-- 10 tests
create function pg_temp.asks(p_task text) returns bigint language plpgsql as $$
begin
  perform qwf.enqueue(p_task, queue => 'cpu', on_failure => 'ask', at_most_once => true);
  perform qwf.claim('cpu', 'w');
  perform qwf_test.report(p_task, 'released');
  return qwf_test.job(p_task);
end $$;
select qwf.answer_job(pg_temp.asks('mail'), '"has_run"');
select is((select j.status || j.output::text from qwf.jobs j where j.task = 'mail'), 'completed{}',
  'it has run');
select qwf.answer_job(pg_temp.asks('charge'), '{"has_run": {"receipt": 7}}');
select is((select j.output from qwf.jobs j where j.task = 'charge'), '{"receipt": 7}',
  'with an output');
select qwf.answer_job(pg_temp.asks('call'), '"has_not"');
select is((select j.status || ' ' || j.begun from qwf.jobs j where j.task = 'call'), 'queued false',
  'it has not: it is tried again');
select qwf_test.claim('cpu');
select pg_temp.asks('x');
select is((select j.input_spec -> 'options' from qwf.jobs j where j.task = 'x'),
  '["has_run", "has_not", "skip", "abort"]', 'the answers');
select throws_ok($$ select qwf.answer_job(qwf_test.job('x'), '"retry"') $$, 'QW005', null,
  'retry says nothing about what happened');
select throws_ok($$ select qwf.answer_job(qwf_test.job('x'), '{"has_run": 7}') $$, 'QW005', null,
  'an output is an object');
select qwf.answer_job(qwf_test.job('x'), '"abort"');
select is(qwf_test.state('x'), 'failed', 'or it is given up');

select qwf_test.workflow('w', '[{"id": "a", "at_most_once": true, "on_failure": "ask"},
  {"id": "b", "depends_on": ["a"], "inputs": {"n": {"$from": "a.n"}}}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/a', 'lost');
select qwf.submit_input(qwf_test.run(), 's/a', '{"has_run": {"n": 3}}');
select is(qwf_test.nodes(), 's/a completed, s/b queued', 'the run goes on');
select is((select c.inputs from qwf.claim('cpu', 'w') c), '{"n": 3}', 'with the output');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
