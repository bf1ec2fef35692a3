-- 2 tests
select qwf.enqueue('a'), qwf.enqueue('b'), qwf.enqueue('c');
select qwf_test.claim('default', 3);
select qwf_test.travel('1 h');
select is((select count(*) from _qwf.reclaim(2)), 2::bigint, 'as many as allowed');
select is((select count(*) from _qwf.reclaim(2)), 1::bigint, 'the rest with the next call');
