-- 4 tests
select qwf.register_pipeline('{"name": "p", "nodes": [
  {"id": "a"},
  {"id": "skipped", "depends_on": ["a"],
   "skip_if": {"$from": "a.files.0.rel_path", "$eq": "s/a/x"}},
  {"id": "each", "depends_on": ["a"], "map": {"$from": "a.files"},
   "inputs": {"path": {"$from": "item.rel_path"}}},
  {"id": "plain", "depends_on": ["a"], "inputs": {"path": {"$from": "a.files.0.rel_path"}}}]}');
select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "s", "kind": "pipeline", "pipeline": "p"},
  {"id": "ask", "kind": "input", "widget": "choose_one", "target": "file", "depends_on": ["s"],
   "source": {"$from": "s/a.files"}}]}');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/a', detail => '{"host": "box", "files": [
  {"rel_path": "s/a/x", "kind": "json", "size_bytes": 2}]}');
select is(qwf_test.state('s/skipped'), 'skipped', 'a condition');
select is(qwf_test.work(), 2, 'the rest is done');
select is((select array_agg(j.output ->> 'path' order by j.id) from qwf.jobs j
  where j.node_id in ('s/plain', 's/each[0]')), '{s/a/x,s/a/x}', 'inputs, and a map over them');
select is((select spec #>> '{source,0,rel_path}' from qwf.pending_inputs), 's/a/x', 'a question');
