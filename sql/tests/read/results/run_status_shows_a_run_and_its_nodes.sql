-- 4 tests
select qwf_test.set_now('2030-01-01');
select qwf_test.workflow('pair',
  '[{"id": "b", "depends_on": ["a"]}, {"id": "a", "node": "fetch"}]');
select qwf.enqueue_run('pair', '{"who": "ada"}', project => 'p');
select qwf_test.claim();
select qwf_test.travel('2.5 s');
do $$ begin perform qwf.progress(qwf_test.job('s/a'), qwf_test.token('s/a'), 0.5, 'half'); end $$;
create temp table status as select qwf.run_status(qwf_test.run()) as v;
select results_eq($$
  select v #>> '{run,workflow}', v #>> '{run,status}', v #>> '{run,context,who}',
    v #>> '{run,project}' from status
$$, $$ values ('pair', 'running', 'ada', 'p') $$, 'the run');
select is((select v -> 'nodes' -> 0 from status) - '{job_id,started_at}'::text[], '{
  "node_id": "s/a", "step_id": "s", "status": "running", "queue": "cpu", "task": "fetch",
    "attempt": 1, "progress": 0.5,
  "message": "half", "error": null, "worker": "w", "finished_at": null, "seconds": 2.5,
    "depends_on": []}',
  'a node that runs');
select is((select v -> 'nodes' -> 1 from status) - 'job_id', '{
  "node_id": "s/b", "step_id": "s", "status": "blocked", "queue": "cpu", "task": "b", "attempt": 0,
    "progress": null,
  "message": null, "error": null, "worker": null, "started_at": null, "finished_at": null,
    "seconds": null,
  "depends_on": ["s/a"]}', 'one that waits, after what it depends on');
select is((select jsonb_array_length(v -> 'nodes') from status), 2, 'and no other');
