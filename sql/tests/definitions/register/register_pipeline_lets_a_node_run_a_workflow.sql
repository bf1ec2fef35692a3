-- 13 tests
-- A node of a pipeline with the key workflow runs it as a run of its own, as a step does.
select qwf.register_workflow('{"name": "one", "inputs": {"type": "object", "required": ["x"],
  "properties": {"x": {"type": "integer"}, "size": {"type": "integer", "default": 5}}},
  "outputs": {"text": {"$from": "write.text"}},
  "steps": [{"id": "write", "node": "write", "inputs": {"x": {"$from": "x"}}}]}');
select qwf.register_pipeline('{"name": "p", "inputs": {"type": "object"},
  "outputs": {"texts": {"$from": "each"}}, "nodes": [
  {"id": "scan", "node": "scan", "inputs": {"list": {"$from": "pipeline.items"}}},
  {"id": "each", "workflow": "one", "depends_on": ["scan"], "map": {"$from": "scan.list"},
   "max_parallel": 2, "inputs": {"x": {"$from": "item"}}}]}');
select qwf.register_workflow('{"name": "top", "steps": [
  {"id": "s", "kind": "pipeline", "pipeline": "p", "inputs": {"items": {"$from": "items"}}},
  {"id": "sum", "node": "sum", "depends_on": ["s"], "inputs": {"texts": {"$from": "s.texts"}}}]}');
select results_eq($$ select node_id, queue, task, workflow, max_parallel, child_graph_id
  from qwf.graph_nodes where node_id = 's/each' $$,
  $$ select 's/each', 'qwf.runs', 'qwf.run:one', 'one', 2, g.id
  from qwf.graphs g join qwf.workflows w on w.id = g.workflow_id where w.name = 'one' $$,
  'the node is a job of the engine, with the graph of the workflow');
select is((select inputs -> 'size' from qwf.graph_nodes where node_id = 's/each'), '5',
  'defaults of the workflow are filled in');

create temp table run as select qwf.enqueue_run('top', '{"items": [1]}') as id;
select qwf.finish(c.job_id, c.token, 'completed', '{"list": [1, 2]}') from qwf.claim('cpu', 'w') c;
select is((select count(*)::int from qwf.runs where workflow = 'one'), 2, 'a run for each element');
select qwf.finish(c.job_id, c.token, 'completed', jsonb_build_object('text', c.inputs -> 'x'))
from qwf.claim('cpu', 'w', 9) c;
select is((select inputs from qwf.claim('cpu', 'w')), '{"texts": [{"text": 1}, {"text": 2}]}',
  'what follows reads their outputs as a list');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
select is((select string_agg(n ->> 'workflow', ',') from jsonb_array_elements(
  qwf.run_graph((select id from run)) -> 'nodes') n where n ? 'workflow'), 'one',
  'the graph of the run shows the workflow');

select qwf.register_workflow('{"name": "one", "steps": [{"id": "write", "node": "other"}]}');
select is((select count(*)::int from qwf.graphs g join qwf.workflows w on w.id = g.workflow_id
  where w.name = 'top'), 2, 'a new version of it compiles what uses the pipeline again');
select throws_ok($$ select qwf.register_pipeline(
  '{"name": "p", "nodes": [{"id": "each", "workflow": "top"}]}') $$, 'QW003',
  'invalid pipeline definition', 'a pipeline cannot make a workflow run itself');
select qwf.register_pipeline('{"name": "q", "nodes": [{"id": "each", "workflow": "on"}]}');
create temp table uses_q as
select jsonb '{"name": "w", "steps": [{"id": "s", "kind": "pipeline", "pipeline": "q"}]}' as w;
select is((select qwf_test.problems('workflow', w) from uses_q),
  'steps[0].pipeline.nodes[0].workflow: there is no workflow "on"', 'an unknown workflow');
select is((
  select jsonb_path_query_array(qwf.workflow_graph(w) -> 'problems', '$[*].message') from uses_q),
  '["there is no workflow \"on\""]', 'is told in a preview, too');
select throws_ok($$ select qwf.register_pipeline(
  '{"name": "q", "nodes": [{"id": "each", "workflow": "one", "gpu": true}]}') $$, 'QW003',
  'invalid pipeline definition', 'a run has no card of its own');
select qwf.register_workflow('{"name": "two", "inputs": {"type": "object", "required": ["x"],
  "properties": {"x": {}}}, "steps": []}');
select qwf.register_pipeline('{"name": "q", "nodes": [{"id": "each", "workflow": "two"}]}');
select is((select qwf_test.problems('workflow', w) from uses_q),
  'steps[0].pipeline.nodes[0].inputs.x: is missing: the workflow requires it',
  'its inputs have to fit');
select qwf.register_pipeline(
  '{"name": "q", "nodes": [{"id": "each", "workflow": "two", "inputs": {"x": 1}}]}');
select is_empty($$ select qwf_test.problems('workflow', w) from uses_q $$,
  'then it is registered');
