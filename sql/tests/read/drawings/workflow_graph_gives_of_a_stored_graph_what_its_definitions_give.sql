-- 7 tests
create temp table given as select jsonb '{"name": "w", "steps": [
  {"id": "s", "kind": "pipeline", "pipeline": "p", "display_name": "look",
    "inputs": {"image": {"$from": "photo.path"}, "size": {"$from": "size", "$default": 7}}},
  {"id": "ask", "kind": "input", "widget": "text", "prompt": {"$from": "greeting"},
    "depends_on": ["s"], "display_name": "check it"}]}' as workflow, jsonb '{"name": "p",
  "inputs": {"required": ["image"], "properties": {"image": {"type": "string"}, "size": {}}},
  "nodes": [
    {"id": "a", "display_name": "fetch it", "inputs": {"src": {"$from": "pipeline.image"}}},
    {"id": "b", "depends_on": ["a"], "map": {"$from": "a.boxes"}, "min_success": 1},
    {"id": "c", "depends_on": ["a"], "skip_if": {"$from": "fast", "$default": false}},
    {"id": "d", "depends_on": ["b", "c"], "inputs": {"n": {"$from": "noise"}}}]}' as pipeline;
select qwf.register_pipeline(pipeline), qwf.register_workflow(workflow) from given;
create temp table seen as
select m.key, m.value as previewed, qwf.workflow_graph(graph_id => g.id) -> m.key as stored
from given, qwf.graphs g cross join lateral jsonb_each(qwf.workflow_graph(given.workflow)) m;
select is(s.stored, s.previewed, s.key) from seen s where s.key <> 'edges' order by s.key;
select set_eq('select jsonb_array_elements(stored) from seen where key = ''edges''',
  'select jsonb_array_elements(previewed) from seen where key = ''edges''', 'edges');
select is((select jsonb_object_agg(s.key, s.stored) from seen s),
  qwf.workflow_graph(graph_id => g.id), 'and nothing else') from qwf.graphs g;
