-- 4 tests
select qwf.create_limit('l', 2), qwf.enqueue('a', limit_by => 'l'), qwf.enqueue('b');
select count(*) from qwf.claim('default', 'w', 1);
select is_empty('select * from qwf.check_invariants(true)', 'nothing is wrong');
update qwf.jobs set losses = 2, options.max_losses = 1;
select results_eq('select invariant, subject from qwf.check_invariants(true)',
  $$ select 'budgets hold', 'job ' || id from qwf.jobs where status = 'running' $$,
  'of the jobs that run, not of those that wait');
select is((select count(*) from qwf.check_invariants()), 2::bigint, 'which are not sound either');
update qwf.jobs set losses = 0;
delete from qwf.limit_slots where job_id is null;
select results_eq('select invariant, subject from qwf.check_invariants(true)',
  $$ values ('a limit has its slots', 'limit l') $$, 'of limits');
