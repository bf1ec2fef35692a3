-- 2 tests
select qwf_test.set_now('2030-01-01');
select qwf.enqueue('c'), qwf.enqueue('a'), qwf.enqueue('b');
select qwf_test.attempt('c', 'fatal', error => 'bang');
select qwf_test.travel('1 s');
select qwf_test.attempt('a', 'fatal', error => E'boom\nat line 1');
select qwf_test.attempt('b');
select results_eq('select task, error, finished_at from qwf.failed_jobs', $$
  values ('a', 'boom', '2030-01-01 00:00:01'::timestamptz), ('c', 'bang', '2030-01-01')
$$, 'the last to fail first, with the first line of it');
select qwf.retry_job(qwf_test.job('a'));
select is((select string_agg(task, ',') from qwf.failed_jobs), 'c', 'not what is tried again');
