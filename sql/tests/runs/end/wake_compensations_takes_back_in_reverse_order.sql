-- 20 tests
select qwf.register_workflow('{"name": "order", "steps": [
  {"id": "reserve", "node": "reserve"},
  {"id": "unreserve", "node": "unreserve", "compensates": ["reserve"]},
  {"id": "charge", "node": "charge", "depends_on": ["reserve"]},
  {"id": "refund", "node": "refund", "compensates": ["charge"],
    "inputs": {"payment": {"$from": "charge.id"}, "why": {"$from": "run.error"},
      "how": {"$from": "run.status"}, "failed": {"$from": "run.failed"}}},
  {"id": "ship", "node": "ship", "depends_on": ["charge"]}]}');

select results_eq($$ select n.node_id, n.run_if, n.compensates from qwf.graph_nodes n
  order by n.idx $$, $$ values ('reserve', null, null::text[]), ('charge', null, null),
  ('ship', null, null), ('refund', 'compensates', '{charge}'),
  ('unreserve', 'compensates', '{reserve}') $$,
  'they stand behind all others, the last effect first');
select results_eq($$ select f.node_id, t.node_id from qwf.graph_edges e
    join qwf.graph_nodes f on f.graph_id = e.graph_id and f.idx = e.from_idx
    join qwf.graph_nodes t on t.graph_id = e.graph_id and t.idx = e.to_idx
  where t.compensates is not null order by e.to_idx, e.from_idx $$,
  $$ values ('charge', 'refund'), ('ship', 'refund'), ('reserve', 'unreserve'),
    ('charge', 'unreserve'), ('ship', 'unreserve'), ('refund', 'unreserve') $$,
  'each waits for what follows, and for the compensation of that');

select qwf.enqueue_run('order');
select is(qwf_test.nodes(), 'reserve queued, charge blocked, ship blocked, refund skipped, '
  'unreserve skipped', 'they are skipped from the start');
select is((select open_nodes from qwf.runs), 3, 'and are not open');
select results_eq($$ select qwf.why_not(qwf_test.job('refund')) $$,
  $$ values ('it runs only if the run fails or is cancelled: it takes back charge') $$,
  'why_not says when they run');
select qwf_test.attempt('reserve');
select qwf_test.attempt('charge', output => '{"id": "p-1"}');
select qwf_test.attempt('ship');
select is(qwf_test.run_state(), 'completed', 'a run that completes takes nothing back');
select is_empty('select * from qwf.check_invariants()', 'and is healthy');

select qwf.enqueue_run('order');
select qwf_test.attempt('reserve');
select qwf_test.attempt('charge', output => '{"id": "p-1"}');
select qwf_test.attempt('ship', 'fatal', error => 'no truck');
select is(qwf_test.nodes(), 'reserve completed, charge completed, ship failed, refund queued, '
  'unreserve blocked', 'a run that fails takes back the last effect first');
select is((select (status, ending)::text from qwf.runs where id = qwf_test.run()),
  '(running,failed)', 'it runs until all is taken back');
select is_empty('select * from qwf.check_invariants()', 'and is healthy meanwhile');
select results_eq($$ select inputs from qwf.claim('cpu', 'w') $$, $$ values (
  '{"payment": "p-1", "why": "ship failed: no truck", "how": "failed", "failed": ["ship"]}'::jsonb)
  $$, 'it reads what it takes back, and why');
select qwf_test.report('refund');
select qwf_test.attempt('unreserve');
select is(qwf_test.run_state(), 'failed', 'then the run has failed');
select is((select error from qwf.runs where id = qwf_test.run()), 'ship failed: no truck',
  'for the first reason');

select qwf.enqueue_run('order');
select qwf_test.attempt('reserve');
select qwf_test.attempt('charge', 'fatal');
select is(qwf_test.nodes(), 'reserve completed, charge failed, ship cancelled, refund skipped, '
  'unreserve queued', 'what did not complete is not taken back');
select is_empty('select * from qwf.check_invariants()', 'that is healthy, too');
select qwf_test.attempt('unreserve');

select qwf.enqueue_run('order');
select qwf_test.attempt('reserve');
select qwf_test.claim();
select qwf.cancel_run(qwf_test.run());
select is(qwf_test.nodes(), 'reserve completed, charge running, ship cancelled, refund blocked, '
  'unreserve blocked', 'a body that still runs is waited for');
select qwf_test.report('charge', output => '{"id": "p-2"}');
select is(qwf_test.nodes(), 'reserve completed, charge completed, ship cancelled, refund queued, '
  'unreserve blocked', 'if it completes all the same, that is taken back');
select qwf_test.attempt('refund');
select qwf_test.attempt('unreserve');
select is(qwf_test.run_state(), 'cancelled', 'and the run is cancelled');

select qwf.enqueue_run('order');
select qwf.cancel_run(qwf_test.run());
select is(qwf_test.nodes(), 'reserve cancelled, charge cancelled, ship cancelled, refund skipped, '
  'unreserve skipped', 'a run that never began has nothing to take back');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
