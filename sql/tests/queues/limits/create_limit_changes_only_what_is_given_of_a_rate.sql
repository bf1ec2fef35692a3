-- 7 tests
create function pg_temp.limit() returns text language sql as $$
  select format('%s running, %s in %s', max_running, starts, per) from qwf.limits $$;
select qwf.create_limit('api', starts => 5);
select is(pg_temp.limit(), '10000 running, 5 in 00:00:01', 'a second if it is not given');
select qwf.create_limit('api', per => '1 day');
select is(pg_temp.limit(), '10000 running, 5 in 24:00:00', 'in hours: a day may have 23');
select qwf.create_limit('api', 2);
select is(pg_temp.limit(), '2 running, 5 in 24:00:00', 'the slots beside it');
select qwf.create_limit('api', starts => 7);
select is(pg_temp.limit(), '2 running, 7 in 24:00:00', 'another rate');
select qwf.create_limit('api', starts => 0);
select is(pg_temp.limit(), '2 running,  in ', 'none any more');
select is_empty('select * from qwf.limit_starts', 'nor its starts');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
