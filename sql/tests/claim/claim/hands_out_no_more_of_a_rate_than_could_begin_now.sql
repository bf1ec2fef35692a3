-- 13 tests
create function pg_temp.claim(max_jobs int, startable int default null) returns text
language sql volatile as $$
  select format('%s of %s', count(*) filter (where c.rated), count(*))
  from qwf.claim('cpu', 'w', claim.max_jobs, startable => claim.startable) c $$;
select qwf.create_limit('api', starts => 9, per => '1 hour');
select qwf.create_limit('other', starts => 9, per => '1 hour');
select qwf.create_limit('disk', 9);
select qwf.enqueue('t', queue => 'cpu', limit_by => 'api') from generate_series(1, 8);
select qwf.enqueue('t', queue => 'cpu', limit_by => 'other') from generate_series(1, 2);
select is(pg_temp.claim(5), '1 of 1', 'one, if the worker does not say how many');
select is(pg_temp.claim(5, 0), '0 of 0', 'none while it could begin none');
select is((select count(*) from qwf.limit_starts where used_at > '-infinity'), 1::bigint,
  'and no start is used for it');
select is(pg_temp.claim(5, 2), '2 of 2', 'as many as it could begin');
select qwf.enqueue('t', queue => 'cpu') from generate_series(1, 3);
select qwf.enqueue('t', queue => 'cpu', limit_by => 'disk');
select is(pg_temp.claim(2, 1), '1 of 2', 'the places are left to jobs without a rate');
select is(pg_temp.claim(9, 0), '0 of 3', 'which come without any that could begin');
select is(pg_temp.claim(9, 9), '6 of 6', 'all limits together');
select is((select count(*) from qwf.limit_starts where used_at > '-infinity'), 10::bigint,
  'a start for each job');
select results_eq($$ select rated from qwf.claim('cpu', 'w', 5) $$, $$ select true limit 0 $$,
  'nothing is left');
select throws_ok($$ select qwf.claim('cpu', 'w', 3, startable => 4) $$, 'QW005',
  'startable must be 0 to max_jobs', 'it is at most max_jobs');
select throws_ok($$ select qwf.claim('cpu', 'w', 3, startable => -1) $$, 'QW005',
  'startable must be 0 to max_jobs', 'and not negative');
select throws_ok($$ select qwf.finish_and_claim('[]', 'cpu', 'w', 3, startable => 4) $$, 'QW005',
  'startable must be 0 to max_jobs', 'nor in finish_and_claim');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
