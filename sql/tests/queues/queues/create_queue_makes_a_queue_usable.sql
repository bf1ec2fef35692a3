-- 2 tests
select qwf.create_queue('night');
select lives_ok($$ select qwf.enqueue('a', queue => 'night') $$, 'jobs may wait there');
select is(qwf_test.claim('night'), 'claimed a', 'and workers serve it');
