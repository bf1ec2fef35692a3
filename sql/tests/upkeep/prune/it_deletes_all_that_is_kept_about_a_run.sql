-- 3 tests
select qwf.register_pipeline('{"name": "p", "nodes": [{"id": "a", "node": "a"}]}');
select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "ask", "kind": "input", "widget": "confirm"},
  {"id": "s", "kind": "pipeline", "pipeline": "p"}]}');
select qwf.enqueue_run('w');
select qwf.submit_input(qwf_test.run(), 'ask', 'true');
select qwf_test.attempt('s/a', 'lost');
select qwf_test.claim();
select qwf.cancel_job(qwf_test.job('s/a'), 'enough');
select qwf_test.report('s/a', 'completed', detail => '{"files": [{"rel_path": "a/x.txt"}]}');
insert into qwf.jobs (run_id, graph_id, node_id, parent_id, element, task, status, finished_at)
select run_id, graph_id, 's/a[0]', id, 0, 'a', 'completed', finished_at
from qwf.jobs where node_id = 's/a';
insert into qwf.job_attempts (job_id, attempt, finished_at, outcome)
select id, 1, finished_at, 'completed' from qwf.jobs where parent_id is not null;
insert into _qwf.event_log (run_id, kind) values (qwf_test.run(), 'retried');
insert into qwf.outbox (run_id, kind, poisoned_at) values (qwf_test.run(), 'stop', qwf.now());
select qwf_test.travel('31 days');
select is(qwf.prune() -> 'runs', '1', 'the run is old enough');
select isnt_empty('select from _qwf.event_log', 'what happened stays');
select is_empty($$
  select 'runs' from qwf.runs
  union all select 'jobs' from qwf.jobs
  union all select 'job_attempts' from qwf.job_attempts
  union all select 'input_answers' from qwf.input_answers
  union all select 'run_files' from qwf.run_files
  union all select 'cancel_requests' from qwf.cancel_requests
  union all select 'outbox' from qwf.outbox
$$, 'nodes, elements, attempts, answers, files, requests: nothing is left behind');
