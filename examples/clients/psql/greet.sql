-- A workflow to run: two nodes, the second of which reads the output of the first. Needs qwf_admin.
select qwf.register_pipeline('{"name": "greet", "nodes": [
  {"id": "hello", "node": "hello", "inputs": {"who": {"$from": "pipeline.who"}}},
  {"id": "shout", "node": "shout", "depends_on": ["hello"], "inputs": {"text": {"$from": "hello.text"}}}]}');
select qwf.register_workflow('{"name": "greet", "steps": [
  {"id": "greet", "kind": "pipeline", "pipeline": "greet", "inputs": {"who": {"$from": "who"}}}]}');
