-- A workflow to run: two nodes, the second of which reads the output of the first. Needs qwf_admin.
select qwf.register_workflow('{"name": "greet", "steps": [
  {"id": "hello", "node": "hello", "inputs": {"who": {"$from": "who"}}},
  {"id": "shout", "node": "shout", "depends_on": ["hello"], "inputs": {"text": {"$from": "hello.text"}}}]}');
