-- 4 tests
select qwf.enqueue('a', max_attempts => 9);
select qwf_test.attempt('a', 'error');
select ok(qwf_test.wait('a') between 0.9 and 1.1, '1 s after the first');
select qwf_test.attempt('a', 'error');
select ok(qwf_test.wait('a') between 4.5 and 5.5, '5 s after the second');
select qwf_test.attempt('a', 'error');
select ok(qwf_test.wait('a') between 27 and 33, '30 s after the third');
select qwf_test.attempt('a', 'error');
select ok(qwf_test.wait('a') between 27 and 33, 'the last repeats');
