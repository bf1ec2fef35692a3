-- A little of everything that a role may ask for: one statement after the other.
select qwf.register_pipeline('{"name": "p", "nodes": [
  {"id": "a", "map": [1, 2], "inputs": {"x": {"$from": "item"}}},
  {"id": "b", "depends_on": ["a"], "inputs": {"y": {"$from": "a", "$default": 1}},
   "skip_if": {"$from": "a", "$eq": []}}]}');
select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "ask", "kind": "input", "widget": "confirm", "target": "yes"},
  {"id": "s", "kind": "pipeline", "pipeline": "p", "depends_on": ["ask"]}]}');
select qwf.create_schedule('s', task => 't', cron => '*/5 * * * *');
select qwf.enqueue_run('w', '{"k": "v"}', key => 'k');
select qwf.submit_input(1, 'ask', 'true');
select qwf.enqueue('t', '{"a": 1}', queue => 'cpu', key => 'k', requires => '{}', expires => '1 day');
select * from qwf.enqueue_many('[{"task": "t", "queue": "cpu", "key": "l"}]');
select qwf.register_worker('h', 'cpu', '{"tasks": ["t", "a", "b"], "models": []}');
select qwf.sleep('me', 'cpu');
select qwf.wake('me');
select token, job_id from qwf.claim('cpu', 'me', 3);
select * from qwf.heartbeat('me', array[gen_random_uuid()], '1 min', '{}');
select qwf.progress(1, gen_random_uuid(), 0.5, 'half');
select qwf.finish(1, gen_random_uuid(), 'completed', '{"a": 1}');
select qwf.deregister_worker('me');
select * from qwf.claim('cpu', 'me', 10);
select qwf.cancel_job(max(id)) from (values (3)) j (id);
select qwf.worker_control('h', 'cpu', 'off', 'drain');
select qwf.cancel_run(1, 'enough');
select qwf.tick(), qwf.drain_outbox(), qwf.prune();
select * from qwf.check_invariants();
select qwf.run_status(1), qwf.result(3), qwf.why_not(3);
