-- 2 tests
select qwf_test.set_now('2040-01-01');
select qwf.tick();
select qwf_test.set_now('2030-01-01');
select is(qwf.tick('1 h') -> 'ran', 'true', 'a tick of the future does not count');
select is(qwf.tick('1 h') -> 'ran', 'false', 'the one of now does');
