-- 3 tests
select qwf_test.set_now('2026-01-01 12:00:00Z');
select qwf.create_limit('api', starts => 1, per => '10 s');
select qwf.enqueue('t', queue => 'cpu', limit_by => 'api') from generate_series(1, 3);
select qwf_test.claim();
select qwf_test.travel('-1 hour');
select is(qwf_test.claim(), 'claimed nothing', 'the start is in the future');
select qwf.tick();
select qwf_test.travel('9 s');
select is(qwf_test.claim(), 'claimed nothing', 'the tick has dated it from then on');
select qwf_test.travel('1 s');
select is(qwf_test.claim(), 'claimed t', 'a period later');
