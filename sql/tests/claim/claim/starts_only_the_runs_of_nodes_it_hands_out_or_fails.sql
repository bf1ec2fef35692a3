-- 3 tests
select qwf_test.workflow('plain', '[{"id": "a"}]');
select qwf_test.workflow('broken', '[{"id": "b", "inputs": {"x": {"$from": "context.gone"}}}]');
select qwf_test.workflow('later', '[{"id": "c"}]');
select qwf.enqueue_run('plain'), qwf.enqueue_run('broken', '{"context": {"gone": 1}}'),
  qwf.enqueue_run('later');
update qwf.runs r set context = '{}' where r.workflow = 'broken';
select qwf.enqueue('standalone', queue => 'cpu', priority => 1);
select results_eq($$ select c.task, c.run_id is null from qwf.claim('cpu', 'w', 3) c $$,
  $$ values ('standalone', true), ('a', false) $$, 'b fails, c waits');
select results_eq($$
  select r.workflow, r.status::text, r.started_at is not null from qwf.runs r order by r.id
$$, $$
  values ('plain', 'running', true), ('broken', 'running', true), ('later', 'queued', false)
$$, 'the runs of a and b have started');
select is(qwf_test.state('s/b'), 'failed', 'b cannot be resolved');
