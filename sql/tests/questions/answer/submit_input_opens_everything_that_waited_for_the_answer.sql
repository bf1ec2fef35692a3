-- 2 tests
select qwf_test.workflow('p', '[{"id": "a"}, {"id": "b", "depends_on": ["a"]}]');
select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "ask", "kind": "input", "widget": "confirm", "target": "ok"},
  {"id": "x", "kind": "pipeline", "pipeline": "p", "depends_on": ["ask"],
   "skip_if": {"$from": "ask.ok", "$ne": true}},
  {"id": "y", "kind": "pipeline", "pipeline": "p", "depends_on": ["ask"]},
  {"id": "again", "kind": "input", "widget": "text", "depends_on": ["ask"]}]}');
select qwf.enqueue_run('w');
select qwf.submit_input(qwf_test.run(), 'ask', 'false');
select is((select string_agg(format('%s %s', node_id, status), ', ' order by node_id)
from qwf.jobs),
  'again awaiting_input, ask completed, x/a skipped, x/b skipped, y/a queued, y/b blocked',
  'skipped nodes, queued nodes and more questions');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
