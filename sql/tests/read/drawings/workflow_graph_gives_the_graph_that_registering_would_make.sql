-- 9 tests
create temp table given as select jsonb '{"name": "w", "steps": [
  {"id": "s", "kind": "pipeline", "pipeline": "p", "display_name": "look",
    "inputs": {"image": {"$from": "photo.path"}}},
  {"id": "ask", "kind": "input", "widget": "confirm", "prompt": "Good?", "depends_on": ["s"],
    "display_name": "check it"}]}' as workflow, jsonb '{"name": "p",
  "inputs": {"properties": {"image": {"type": "string"}}},
  "nodes": [
    {"id": "a", "display_name": "fetch it", "inputs": {"src": {"$from": "pipeline.image"}}},
    {"id": "b", "depends_on": ["a"], "gpu": true, "map": {"$from": "a.boxes"}, "min_success": 1},
    {"id": "c", "depends_on": ["b"], "run_if": "all_done", "queue": "gpu"}]}' as pipeline;
create temp table seen as
select qwf.workflow_graph(g.workflow, jsonb_build_object('p', g.pipeline)) as graph from given g;
select is(graph -> 'problems', '[]', 'it has no problem') from seen;
select is(graph -> 'steps', '[
  {"id": "s", "kind": "pipeline", "title": "look", "pipeline": "p", "needs": []},
  {"id": "ask", "kind": "input", "title": "check it", "needs": ["s"]}]', 'its steps') from seen;
select is(graph -> 'nodes', '[
  {"idx": 0, "id": "s/a", "step": "s", "title": "fetch it", "pipeline": "p", "task": "a",
    "queue": "cpu"},
  {"idx": 1, "id": "s/b", "step": "s", "pipeline": "p", "task": "b", "queue": "gpu", "map": true,
    "min_success": "1"},
  {"idx": 2, "id": "s/c", "step": "s", "pipeline": "p", "task": "c", "queue": "gpu",
    "run_if": "all_done"},
  {"idx": 3, "id": "ask", "step": "ask", "title": "check it", "task": "input",
    "asks": {"widget": "confirm", "prompt": "Good?"}}]', 'its nodes') from seen;
select set_eq($$ select jsonb_array_elements(graph -> 'edges') from seen $$,
  array['[0, 1]', '[1, 2]', '[2, 3]']::jsonb[], 'its edges');
select is((select count(*)::int from qwf.pipelines) + (select count(*)::int from qwf.graphs), 0,
  'nothing is stored');
select qwf.register_pipeline(pipeline), qwf.register_workflow(workflow) from given;
select set_eq($$ select jsonb_array_elements(graph -> 'edges') from seen $$,
  'select jsonb_build_array(from_idx, to_idx) from qwf.graph_edges', 'registering makes the same');
select results_eq($$
  select n ->> 'id', n ->> 'task', n ->> 'queue'
  from seen cross join lateral jsonb_array_elements(graph -> 'nodes') n $$,
  'select node_id, task, queue from qwf.graph_nodes order by idx', 'and the same nodes');
select is(qwf.workflow_graph(workflow) #> '{steps,0,version}', '1',
  'a registered pipeline is named with its version') from given;
select is(qwf.workflow_graph(workflow, jsonb_build_object('p', pipeline || '{"mode": "x"}'))
  #> '{steps,0,version}', null, 'one that is not registered has none') from given;
