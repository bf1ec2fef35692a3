-- 4 tests
select qwf.enqueue('a', max_attempts => 9);
select qwf_test.attempt('a', 'tempfail');
select ok(qwf_test.wait('a') between 54 and 66, '60 s after the first');
select qwf_test.attempt('a', 'tempfail');
select ok(qwf_test.wait('a') between 270 and 330, '300 s after the second');
select qwf_test.attempt('a', 'tempfail');
select ok(qwf_test.wait('a') between 810 and 990, '900 s after the third');
select qwf_test.attempt('a', 'tempfail');
select ok(qwf_test.wait('a') between 810 and 990, 'the last repeats');
