-- 10 tests
select qwf_test.workflow('inner', '[{"id": "mail", "at_most_once": true}, {"id": "log"}]');
select qwf.register_workflow('{"name": "middle", "steps": [
  {"id": "m", "kind": "workflow", "workflow": "inner",
   "retry": {"max_attempts": 3, "backoff": [0]}}]}');
select qwf.register_workflow('{"name": "outer", "steps": [
  {"id": "o", "kind": "workflow", "workflow": "middle",
   "retry": {"max_attempts": 3, "backoff": [0]}}]}');
create temp table outer_run as select qwf.enqueue_run('outer') as id;
select qwf.tick();
select qwf_test.claim('cpu', 9);
select qwf_test.report('s/log'), qwf_test.report('s/mail', 'lost');
select qwf.tick(), qwf.tick();
select is((select r.status::text from qwf.runs r join outer_run o using (id)), 'failed',
  'no try of a step runs it again');
select is((select count(*) from qwf.jobs j where j.node_id = 's/mail'), 1::bigint, 'it ran once');
select matches((select p.because from outer_run o, qwf.retry_plan(o.id) p),
  '^it failed; run [0-9]+ goes on; it may have run: s/mail$', 'the plan looks below');
select throws_ok($$ select qwf.retry_run(id) from outer_run $$, 'QW002', 'it may have run',
  'a retry refuses it');
select is((select qwf.retry_run(id, named => '{o}') from outer_run), 1, 'unless the step is named');
select qwf.tick(), qwf.tick();
select is(qwf_test.claim('cpu', 9), 'claimed s/mail', 'then it goes on there');
select qwf_test.report('s/mail');
select qwf.tick(), qwf.tick();
select is((select r.status::text from qwf.runs r join outer_run o using (id)), 'completed',
  'and ends');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');

-- the run has failed already when the body is lost, and its next try is queued
truncate outer_run;
insert into outer_run select qwf.enqueue_run('outer');
select qwf.tick();
select qwf_test.claim('cpu', 9);
select qwf_test.report('s/log', 'fatal'), qwf_test.report('s/mail', 'lost');
select qwf_test.travel('6 s');
select qwf.tick(), qwf.tick();
select is((select r.status::text from qwf.runs r join outer_run o using (id)), 'failed',
  'also if the body ends after its run');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
