-- 20 tests
-- Two of four elements have charged when the run is cancelled, fails or passes its deadline.
select qwf_test.set_now('2026-01-01 12:00Z');
select qwf.register_workflow('{"name": "saga", "deadline": "10 min", "steps": [
  {"id": "charge", "node": "charge", "queue": "default", "map": {"$from": "list"},
   "inputs": {"i": {"$from": "item"}}},
  {"id": "refund", "node": "refund", "queue": "default", "compensates": ["charge"],
   "inputs": {"done": {"$from": "charge"}}},
  {"id": "tell", "node": "tell", "queue": "default", "run_if": "all_done",
   "depends_on": ["charge"], "inputs": {"all": {"$from": "charge"}}}]}');
create function pg_temp.begin_run() returns void language plpgsql as $$
begin
  perform qwf.enqueue_run('saga', '{"list": [1, 2, 3, 4]}');
  perform qwf.finish(c.job_id, c.token, 'completed', jsonb_build_object('paid', c.inputs -> 'i'))
  from qwf.claim('default', 'w', 2) c;
end $$;
create function pg_temp.work(p_task text, p_outcome text default 'completed') returns jsonb
language plpgsql as $$
declare
  v_job qwf.claimed_job;
  v_inputs jsonb;
begin
  for v_job in select * from qwf.claim('default', 'w', 10) loop
    if v_job.task = p_task then
      v_inputs := v_job.inputs;
    end if;
    perform qwf.finish(v_job.job_id, v_job.token,
      case when v_job.task = p_task then p_outcome else 'completed' end, error => 'no');
  end loop;
  return v_inputs;
end $$;

select pg_temp.begin_run();
select qwf.cancel_run(qwf_test.run());
select is(pg_temp.work('tell'), '{"all": null}', 'a clean-up node reads null from the map');
select is(pg_temp.work('refund'), '{"done": [{"paid": 1}, {"paid": 2}, null, null]}',
  'the compensation gets what was done, null for the others');
select is(qwf_test.run_state(), 'cancelled', 'the run ends as it was to');
select is((select taken_back from qwf.compensations where run_id = qwf_test.run()), true,
  'the charges are taken back');
select is((select detail -> 'not_taken_back' from qwf.event_overview
  where run_id = qwf_test.run() and kind = 'run_ended'), null, 'so the event says nothing');
select results_eq($$ select node_id, verdict, because from qwf.retry_plan(qwf_test.run())
  where node_id = 'charge' $$, $$ values ('charge', 'runs again', 'it was taken back by refund') $$,
  'a retry charges again');
select qwf.retry_run(qwf_test.run());
select is((select count(*)::int from qwf.claim('default', 'w', 10)), 4, 'all elements of the map');
select is_empty('select * from qwf.check_invariants()', 'nothing is broken');

select pg_temp.begin_run();
select count(qwf.finish(c.job_id, c.token, 'fatal', error => 'no'))
from qwf.claim('default', 'w') c;
select pg_temp.work('tell');
select is(pg_temp.work('refund', 'fatal'), '{"done": [{"paid": 1}, {"paid": 2}, null, null]}',
  'the same if an element fails');
select is(qwf_test.run_state(), 'failed', 'the run has failed');
select is((select detail -> 'not_taken_back' from qwf.event_overview
  where run_id = qwf_test.run() and kind = 'run_ended'), '["charge"]',
  'its event names what stands');
select throws_ok($$ select qwf.retry_run(qwf_test.run()) $$, 'QW002',
  'a compensation node failed', 'nobody knows what of it was taken back');
select lives_ok($$ select qwf.retry_run(qwf_test.run(), 'charge', completed => 'keep') $$,
  'unless it is named');
select is((select count(*)::int from qwf.claim('default', 'w', 10)), 4, 'then all run again');

select pg_temp.begin_run();
select qwf_test.travel('11 min');
select qwf.tick();
select pg_temp.work('tell');
select is(pg_temp.work('refund'), '{"done": [{"paid": 1}, {"paid": 2}, null, null]}',
  'the same at the deadline');

select qwf.enqueue_run('saga', '{"list": [1, 2]}');
create temp table running as select * from qwf.claim('default', 'w', 1);
select qwf.cancel_run(qwf_test.run());
select is(pg_temp.work('refund'), null, 'the compensation waits for a body that still runs');
select qwf.finish(job_id, token, 'completed', '{"paid": 1}') from running;
select pg_temp.work('tell');
select is(pg_temp.work('refund'), '{"done": [{"paid": 1}, null]}',
  'and takes back what it completes');

select qwf.enqueue_run('saga', '{"list": [1, 2]}');
select qwf.cancel_run(qwf_test.run());
select is(pg_temp.work('refund'), null, 'nothing is taken back of a map that did nothing');
select is(qwf_test.run_state(), 'cancelled', 'and the run ends');
select is_empty('select * from qwf.check_invariants()', 'nothing is broken');
