-- 13 tests
select qwf.register_workflow('{"name": "leaf", "steps": [
  {"id": "a", "node": "a"}, {"id": "b", "node": "b"}, {"id": "c", "node": "c"}]}');
select qwf.register_workflow('{"name": "wide", "steps": [
  {"id": "each", "kind": "workflow", "workflow": "leaf", "map": {"$from": "list"}}]}');
create function pg_temp.live() returns bigint language sql
as $$ select count(*) from qwf.runs where depth = 1 and finished_at is null $$;

select qwf.pause_queue('qwf.runs');
create temp table run as
  select qwf.enqueue_run('wide', jsonb_build_object('list', array_fill(1, array[250]))) as id;
select is(pg_temp.live(), 0::bigint, 'a paused queue starts no run');
select is(max_parallel, 100, 'a map of runs without max_parallel has 100 at once')
from qwf.graph_nodes where node_id = 'each';
select matches((select w from qwf.jobs j, qwf.why_not(j.id) w where j.node_id = 'each[0]'),
  'is paused',
  'why says so');
select qwf.resume_queue('qwf.runs');
select is(pg_temp.live(), 0::bigint, 'resuming starts none either');
select is(_qwf.serve_runs(10), 100, 'it stops after so many rows of nodes,
  and says that more wait');
select is(pg_temp.live(), 4::bigint, 'four runs of three nodes');
select is(_qwf.serve_runs(1), 100, 'at least one run');
select is(pg_temp.live(), 5::bigint, 'one more');
select is((qwf.tick() ->> 'served')::int, 95, 'a tick starts the others');
select is(pg_temp.live(), 100::bigint, 'all that may run at once');
select is_empty('select * from qwf.check_invariants()', 'invariants');
select is_empty($$ select from qwf.queue_overview where queue = 'qwf.runs' $$,
  'the queue of the engine is not among the queues');
select is_empty($$ select from qwf.unassignable_jobs where queue = 'qwf.runs' $$,
  'and its jobs need no worker');
