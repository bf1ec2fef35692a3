-- 9 tests
create function pg_temp.claim(max_jobs int, startable int) returns text
language sql volatile as $$
  select format('%s of %s', count(*) filter (where c.rated), count(*))
  from qwf.finish_and_claim('[]', 'cpu', 'w', claim.max_jobs, startable => claim.startable) c $$;
select qwf.create_limit('host', starts => 2, per => '1 hour', keyed => true);
select qwf.create_limit('customer', 2, keyed => true);
select qwf.create_limit('api', starts => 9, per => '1 hour');
select qwf.enqueue('t', queue => 'cpu', limit_by => 'host:' || n % 3) from generate_series(1, 9) n;
select is(pg_temp.claim(5, 0), '0 of 0', 'none while the worker could begin none');
select is_empty('select * from qwf.limit_keys', 'and no start is used for it');
select is(pg_temp.claim(5, 1), '1 of 1', 'one of all keys');
select is((select sum(cardinality(starts)) from qwf.limit_keys), 1::bigint, 'one start is used');
select qwf.enqueue('t', queue => 'cpu', limit_by => 'customer:' || n) from generate_series(1, 3) n;
select is(pg_temp.claim(3, 1), '1 of 3', 'the places are left to keys without a rate');
select qwf.enqueue('t', queue => 'cpu', limit_by => 'api') from generate_series(1, 4);
select is(pg_temp.claim(9, 2), '2 of 3', 'keys and plain limits together');
select is(pg_temp.claim(9, 9) ~ '^[4-9] of [4-9]$', true, 'then what the rates allow');
select is((select max(cardinality(starts)) from qwf.limit_keys) <= 2, true, 'and no more of a key');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
