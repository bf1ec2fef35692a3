-- 12 tests
select qwf.register_workflow('{"name": "d0", "steps": [{"id": "a", "node": "leaf"}]}');
select qwf.register_workflow(jsonb_build_object('name', 'd' || g, 'steps', jsonb_build_array(
  jsonb_build_object('id', 'r', 'kind', 'workflow', 'workflow', 'd' || (g - 1)))))
from generate_series(1, 8) g;
create temp table run as select qwf.enqueue_run('d8') as id;
select is((select max(depth) from qwf.runs), 8, 'one call makes nine levels');
select is(qwf_test.works(1), 'a:ok', 'the only body');
select is((select count(*) from qwf.runs where status = 'completed'), 9::bigint,
  'its end ends all levels');
create temp table second as select qwf.enqueue_run('d8') as id;
create temp table held as select job_id, token from qwf.claim('cpu', 'w1');
select is(qwf.cancel_run(second.id, 'enough'), true, 'cancelled') from second;
select is((select count(*) from qwf.runs where status = 'cancelled'), 9::bigint, 'all levels');
select is_empty('select from qwf.outbox', 'nothing is left to do');
select is((select verdict from held h, qwf.heartbeat('w1', array[h.token])), 'cancel',
  'the body is told');
select is(qwf.finish(h.job_id, h.token, 'cancelled'), 'ok', 'and stops') from held h;
select is_empty('select * from qwf.check_invariants()', 'invariants');

-- of many runs, those of 500 nodes at once
select qwf.register_workflow('{"name": "wide", "steps": [
  {"id": "each", "kind": "workflow", "workflow": "fifty", "map": {"$from": "list"}}]}')
from (select qwf.register_workflow(jsonb_build_object('name', 'fifty', 'steps', (
  select jsonb_agg(jsonb_build_object('id', 'n' || g, 'node', 'n')) from generate_series(1, 50) g)))
) x;
create temp table third as
  select qwf.enqueue_run('wide', jsonb_build_object('list', array_fill(1, array[12]))) as id;
select _qwf.serve_runs(5000);
select is(qwf.cancel_run(third.id), true, 'a wide run is cancelled') from third;
select is((select count(*) from qwf.outbox where kind = 'stop'), 2::bigint,
  'ten of its runs stop in the call, two get an event');
select qwf.drain_outbox();
select is((select count(*) from qwf.runs where workflow in ('wide',
  'fifty') and status <> 'cancelled'),
  0::bigint, 'which the next drain applies');
