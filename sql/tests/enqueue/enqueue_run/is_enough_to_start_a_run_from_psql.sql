-- 4 tests
-- Register, enqueue, claim, finish: no other program needed.
select qwf.register_pipeline('{"name": "greet", "inputs": {"type": "object", "required": ["who"],
  "properties": {"who": {"type": "string"}}}, "outputs": {"line": {"$from": "say.line"}},
  "nodes": [{"id": "say", "node": "say", "inputs": {"who": {"$from": "pipeline.who"}}}]}');
select qwf.register_workflow('{"name": "greet", "steps": [
  {"id": "hello", "kind": "pipeline", "pipeline": "greet", "inputs": {"who": {"$from": "who"}}}]}');
create temp table run as select qwf.enqueue_run('greet', context => '{"who": "Ada"}') as id;
create temp table job as select * from qwf.claim('cpu', 'psql');
select is((select inputs from job), '{"who": "Ada"}', 'claimed');
select is((select qwf.finish(job_id, token, 'completed', '{"line": "Hello Ada"}') from job), 'ok',
  'finished');
select is(qwf.run_status((select id from run)) #>> '{run,status}', 'completed', 'completed');
select is(qwf.result((select job_id from job)) -> 'output', '{"line": "Hello Ada"}',
  'with its result');
