-- 5 tests
select qwf.enqueue('b', run_at => '2100-01-01'), qwf.enqueue('a', run_at => '2100-01-01');
select qwf.enqueue('c');
select count(*) from qwf.change_jobs(array[qwf_test.job('a'), qwf_test.job('b')],
  run_at => qwf.now() - interval '1 h');
select results_eq('select task, status::text from qwf.jobs order by task',
  $$ values ('a', 'queued'), ('b', 'queued'), ('c', 'queued') $$, 'due now');
select is(array[qwf_test.claim('default'), qwf_test.claim('default')],
  array['claimed c', 'claimed b'], 'behind what waits, in the order of their ids');
select count(*) from qwf.change_jobs(array[qwf_test.job('a')], run_at => '2100-01-01');
select is(qwf_test.state('a'), 'scheduled', 'later');
select results_eq('select distinct login, detail - ''old'' - ''new'' from _qwf.event_log
  where kind = ''changed''', $$ values (qwf_test.login(), '{}'::jsonb) $$,
  'each is written, with the login');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
