-- 6 tests
select qwf_test.set_now('2026-01-01 12:00:00Z');
select qwf.create_limit('api', 2, starts => 3, per => '10 s');
select qwf.enqueue(t, queue => 'cpu', limit_by => 'api') from unnest('{a,b,c,d,e,f}'::text[]) t;
select qwf.enqueue('free', queue => 'cpu');
select is(qwf_test.claim('cpu', 3), 'claimed a, b, free', 'two run, and one without a limit');
select qwf_test.report('a');
select is(qwf_test.claim('cpu', 9), 'claimed c', 'a slot is free, and a start is left');
select qwf_test.report('b');
select is(qwf_test.claim('cpu', 9), 'claimed nothing', 'a slot is free, but no start');
select qwf_test.travel('10 s');
select is(qwf_test.claim('cpu', 9), 'claimed d', 'three starts, but one slot');
select qwf_test.report('c'), qwf_test.report('d');
select is(qwf_test.claim('cpu', 9), 'claimed e, f', 'both');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
