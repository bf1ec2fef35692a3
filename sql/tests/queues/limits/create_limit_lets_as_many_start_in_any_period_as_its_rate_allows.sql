-- 8 tests
select qwf_test.set_now('2026-01-01 12:00:00Z');
select qwf.create_limit('smtp', starts => 3, per => '10 s');
select qwf.enqueue(t, queue => 'cpu', limit_by => 'smtp')
from unnest('{a,b,c,d,e,f,g,h}'::text[]) t;
select is(qwf_test.claim('cpu', 2), 'claimed a, b', 'at 0 s');
select qwf_test.travel('4 s');
select is(qwf_test.claim('cpu', 9), 'claimed c', 'at 4 s: the third of the period');
select qwf_test.report('a'), qwf_test.report('b'), qwf_test.report('c');
select is(qwf_test.claim('cpu', 9), 'claimed nothing', 'the end of a job gives no start back');
select qwf_test.travel('5.999 s');
select is(qwf_test.claim('cpu', 9), 'claimed nothing', 'at 9.999 s');
select qwf_test.travel('1 ms');
select is(qwf_test.claim('cpu', 9), 'claimed d, e', 'at 10 s: those of 0 s are a period ago');
select qwf_test.travel('4 s');
select is(qwf_test.claim('cpu', 9), 'claimed f', 'at 14 s: that of 4 s is a period ago');
select is((select max(s.starts) from (
    select count(*) over (order by j.claimed_at range '9.999999 s' preceding) as starts
    from qwf.jobs j where j.claimed_at is not null) s), 3::bigint, 'never more than three in 10 s');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
