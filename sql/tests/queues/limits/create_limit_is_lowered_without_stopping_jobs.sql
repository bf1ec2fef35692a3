-- 6 tests
select qwf.create_limit('api', 3);
select qwf.enqueue(t, queue => 'cpu', limit_by => 'api') from unnest('{a,b,c,d,e,f}'::text[]) t;
select is(qwf_test.claim('cpu', 9), 'claimed a, b, c', 'three');
select qwf.create_limit('api', 1);
select qwf_test.report('a');
select is(qwf_test.claim('cpu', 9), 'claimed nothing', 'two still run');
select qwf_test.report('b');
select is(qwf_test.claim('cpu', 9), 'claimed nothing', 'one still runs, and only one may');
select qwf_test.report('c');
select is(qwf_test.claim('cpu', 9), 'claimed d', 'none runs: one may');
select qwf.create_limit('api', 2);
select is(qwf_test.claim('cpu', 9), 'claimed e', 'raised: one more');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
