-- 3 tests
create function pg_temp.waits(p_task text, p_seconds int) returns boolean language plpgsql as $$
begin
  perform qwf_test.attempt(p_task, 'error');
  return qwf_test.wait(p_task) between 0.9 * p_seconds and 1.1 * p_seconds;
end $$;
select qwf.enqueue('a', max_attempts => 9, backoff => '[10, 20]', queue => 'cpu');
select ok(pg_temp.waits('a', 10) and pg_temp.waits('a', 20) and pg_temp.waits('a', 20),
  'a list: the last repeats');
select qwf.enqueue('b', max_attempts => 9, backoff => '{"base": 100, "factor": 3, "max": 500}',
  queue => 'gpu');
select ok(pg_temp.waits('b', 100) and pg_temp.waits('b', 300) and pg_temp.waits('b', 500),
  'growing up to a limit');
select qwf.enqueue('c', max_attempts => 9, backoff => '{"base": 8}');
select ok(pg_temp.waits('c', 8) and pg_temp.waits('c', 16) and pg_temp.waits('c', 32),
  'doubling by default');
