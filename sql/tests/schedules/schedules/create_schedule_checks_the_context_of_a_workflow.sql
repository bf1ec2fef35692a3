-- 3 tests
select qwf.register_pipeline('{"name": "p", "nodes": [{"id": "a", "node": "a"}], "inputs": {
  "type": "object", "required": ["n"], "properties": {"n": {"type": "integer"}}}}');
select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "s", "kind": "pipeline", "pipeline": "p", "inputs": {"n": {"$from": "n"}}}]}');
select throws_ok($$ select qwf.create_schedule('x', workflow => 'w', cron => '@daily') $$,
  'QW005', 'invalid schedule', 'a run without n could not be enqueued');
select lives_ok(
  $$ select qwf.create_schedule('x', workflow => 'w', cron => '@daily', args => '{"n": 3}') $$,
  'with n, it can');
select throws_ok(
  $$ select qwf.create_schedule('x', workflow => 'w', cron => '@daily', queue => 'cpu') $$,
  'QW005', 'invalid schedule', 'a queue is for jobs: nodes name their own');
