-- 9 tests
-- A refund fails in a run that lies two levels below the one that is retried, in an element of a
-- map. The retry says so before anything happens, and naming the step lets it go on.
select qwf.register_workflow('{"name": "pay", "steps": [
  {"id": "charge", "node": "charge"},
  {"id": "refund", "node": "refund", "compensates": ["charge"]},
  {"id": "book", "node": "book", "depends_on": ["charge"]}]}');
select qwf.register_workflow('{"name": "order", "steps": [
  {"id": "pays", "kind": "workflow", "workflow": "pay", "map": {"$from": "carts"},
   "inputs": {}}]}');
select qwf.register_workflow('{"name": "day", "steps": [
  {"id": "order", "kind": "workflow", "workflow": "order",
   "inputs": {"carts": {"$from": "carts"}}}]}');
create temp table run as select qwf.enqueue_run('day', '{"carts": [1]}') as id;
select qwf_test.attempt('charge');
select qwf_test.attempt('book', 'fatal');
select qwf_test.attempt('refund', 'fatal');
select is(status::text, 'failed', 'the run at the top has failed')
from qwf.runs join run using (id);
select throws_like(format('select * from qwf.retry_plan(%s)', run.id),
  'a compensation node failed', 'the plan is refused') from run;
select throws_ok(format('select qwf.retry_run(%s)', run.id), 'QW002', 'a compensation node failed',
  'and so is the retry') from run;
select is((select count(*)::int from qwf.runs where finished_at is null), 0,
  'nothing has changed');
select is((select verdict from run, qwf.retry_plan(run.id, 'order') where node_id = 'order'),
  'runs again', 'the step may be named');
select is(qwf.retry_run(run.id, 'order'), 1, 'then it goes on') from run;
select is((select string_agg(j.node_id || ' ' || j.status, ', ' order by j.id) from qwf.jobs j
    where j.node_id in ('charge', 'book', 'refund')),
  'charge queued, book blocked, refund skipped', 'with the charge, as if it was taken back');
select qwf_test.attempt('charge');
select qwf_test.attempt('book');
select is(status::text, 'completed', 'and completes') from qwf.runs join run using (id);
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
