-- 9 tests
select qwf_test.set_now('2030-01-01');
select qwf.register_workflow('{"name": "w", "steps": [{"id": "a", "node": "a", "queue": "cpu"}],
  "expect": {"takes": "10 min", "starts_within": "5 min"}}');
select qwf.register_worker('box', 'cpu');
create function pg_temp.told() returns bigint language sql as $$
  select count(*) from _qwf.event_log e where e.kind = 'run_late' $$;
create function pg_temp.judges(p_travel interval) returns int language plpgsql as $$ begin
  perform qwf_test.travel(p_travel);
  return _qwf.judge(); end $$;
select qwf.enqueue_run('w');
select is(pg_temp.judges('4 min'), 0, 'it may wait for five minutes');
select is(pg_temp.judges('5 s'), 0, 'nobody looks twice in ten seconds');
select is(pg_temp.judges('2 min'), 1, 'it has not started in time, and no tick ran for a minute');
select results_eq($$ select subject, run_id, detail from _qwf.event_log where kind = 'run_late' $$,
  $$ values ('w', qwf_test.run(), '{"waits_for": 365, "expected": 300}'::jsonb) $$, 'it says so');
select qwf_test.travel('-1 min'), qwf.claim('cpu', (select w.id from qwf.workers w));
select pg_temp.judges('1 h');
select is(pg_temp.told(), 1::bigint, 'a run is told of once');
select qwf.cancel_run(qwf_test.run());
do $$ begin perform qwf.finish(j.id, j.token, 'cancelled') from qwf.jobs j; end $$;
select qwf.retry_run(qwf_test.run());
select is((select late_at from qwf.runs), null, 'a retry clears the mark');
select qwf.claim('cpu', (select w.id from qwf.workers w));
select pg_temp.judges('9 min');
select is(pg_temp.told(), 1::bigint, 'and counts from its own start');
select pg_temp.judges('2 min');
select is((select detail from _qwf.event_log where kind = 'run_late' order by id desc limit 1),
  '{"runs_for": 660, "expected": 600}'::jsonb, 'then it is late again');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
