-- 8 tests
select qwf_test.set_now('2026-01-01 12:00:00Z');
select qwf.create_limit('api', starts => 4, per => '10 s');
select qwf.enqueue('t', queue => 'cpu', limit_by => 'api') from generate_series(1, 20);
select is(qwf_test.claim('cpu', 2), 'claimed t, t', 'two of four');
select qwf.create_limit('api', starts => 2);
select is(qwf_test.claim('cpu', 9), 'claimed nothing', 'two of two');
select is((select count(*) from qwf.limit_starts), 2::bigint, 'the others are gone');
select qwf.create_limit('api', starts => 3);
select is(qwf_test.claim('cpu', 9), 'claimed t', 'the third of three');
select qwf_test.travel('10 s');
select qwf.create_limit('api', per => '20 s');
select is(qwf_test.claim('cpu', 9), 'claimed nothing', 'a longer period holds at once');
select qwf.create_limit('api', per => '5 s');
select is(qwf_test.claim('cpu', 9), 'claimed t, t, t', 'and so does a shorter one');
select lives_ok($$ select qwf.create_limit('api', 1, starts => 0) $$, 'without the rate');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
