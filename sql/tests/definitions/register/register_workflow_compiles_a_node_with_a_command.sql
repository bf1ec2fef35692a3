-- 2 tests
select qwf.register_pipeline('{"name": "p", "nodes": [
  {"id": "a", "command": ["do.sh", "--in", {"$from": "pipeline.image"}, 3], "inputs": {"x": 1}}]}');
select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "s", "kind": "pipeline", "pipeline": "p", "inputs": {"image": {"$from": "photo"}}}]}');
select is(n.task, 'command', 'the task is command') from qwf_test.compiled('w', 's/a') n;
select is(n.inputs, '{"command": ["do.sh", "--in", {"$from": ["$context", "photo"]}, 3], "x": 1}',
  'its words become an input') from qwf_test.compiled('w', 's/a') n;
