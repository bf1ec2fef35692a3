-- 9 tests
-- run.error, run.status, run.failed and run.id, when it opens or is claimed.
select qwf_test.workflow('w', '[
  {"id": "a"}, {"id": "b", "depends_on": ["a"]},
  {"id": "tell", "depends_on": ["b"], "run_if": "all_done", "inputs": {
    "why": {"$from": "run.error"}, "how": {"$from": "run.status"}, "which": {"$from": "run.failed"},
    "run": {"$from": "run.id"}, "first": {"$from": "run.failed.0", "$default": "none"}}},
  {"id": "undo", "depends_on": ["b"], "run_if": "all_done",
   "skip_if": {"$from": "run.status", "$eq": null}},
  {"id": "each", "depends_on": ["b"], "run_if": "all_done", "map": {"$from": "run.failed"},
   "inputs": {"node": {"$from": "item"}, "run": {"$from": "run.id"}}}]');
select is((select array_agg(n.node_id order by n.idx) from qwf.graph_nodes n where n.reads_run),
  array['s/tell', 's/undo', 's/each'], 'only these read their run');
select qwf.enqueue_run('w');
select qwf_test.work();
select qwf_test.attempt('s/b', 'error', error => 'boom');
select results_eq(
  $$ select c.node_id, c.inputs - 'run' from qwf.claim('cpu', 'w', 9, startable => 9) c
     order by 1 $$, $$ values
  ('s/each[0]', jsonb '{"node": "s/b"}'), ('s/tell', jsonb '{"why": "s/b failed: boom",
    "how": "failed", "which": ["s/b"], "first": "s/b"}'), ('s/undo', '{}') $$, 'it failed');
select is((select (resolved_inputs ->> 'run')::bigint from qwf.jobs where node_id = 's/tell'),
  qwf_test.run(), 'run.id is the id of the run');
select qwf_test.report('s/tell'), qwf_test.report('s/undo'), qwf_test.report('s/each[0]');
select is(qwf_test.run_state(), 'failed', 'it ends');

select qwf.retry_run(qwf_test.run());
select qwf_test.work(), qwf_test.work();
select is((select output - 'run' from qwf.jobs where node_id = 's/tell'),
  '{"why": null, "how": null, "which": [], "first": "none"}', 'after a retry it completes');
select is(qwf_test.nodes(), 's/a completed, s/b completed, s/tell completed, s/undo skipped, '
  's/each completed', 'nothing is undone');
select is(qwf_test.run_state(), 'completed', 'and so does the run');

select results_eq($$ select qwf_test.problems('pipeline',
  '{"name": "p", "nodes": [{"id": "run"}]}') $$, array['nodes[0].id: "run" is reserved'],
  'no node has this id');
select qwf_test.explains($$ select qwf_test.workflow('v', '[
  {"id": "a", "inputs": {"x": {"$from": "run.reason"}}}]') $$,
  'steps[0].pipeline.nodes[0].inputs.x: a run has no "reason"', 'a run has no other parts');
