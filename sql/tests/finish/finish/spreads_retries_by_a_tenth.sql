-- 2 tests
select count(*) from qwf.enqueue_many((
  select jsonb_agg('{"task": "a", "max_attempts": 2, "backoff": [1000]}'::jsonb)
  from generate_series(1, 200)));
select qwf_test.set_now('2030-01-01');
select count(*) from qwf.finish_many((
  select jsonb_agg(jsonb_build_object('job_id', job_id, 'token', token, 'outcome', 'error'))
  from qwf.claim('default', 'w', 200)));
create temp table wait as select extract(epoch from run_at - qwf.now()) as seconds from qwf.jobs;
select ok(min(seconds) >= 900 and max(seconds) <= 1100, 'at most 10 % off') from wait;
select ok(max(seconds) - min(seconds) > 100, 'and not all at once') from wait;
