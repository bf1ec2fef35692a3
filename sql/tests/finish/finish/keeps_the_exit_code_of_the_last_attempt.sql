-- 4 tests
select qwf.enqueue('a', max_attempts => 4);
select qwf_test.attempt('a', 'error', detail => '{"exit_code": 1}');
select is((select last_exit_code from qwf.job_details), 1, 'of the first');
select qwf_test.attempt('a', 'error', detail => '{"exit_code": -9}');
select is((select last_exit_code from qwf.job_details), -9, 'of the second');
select qwf_test.attempt('a', 'error');
select is((select last_exit_code from qwf.job_details), null, 'of the third, which had none');
select qwf_test.attempt('a', 'lost', detail => '{"reason": "crashed", "signal": 9}');
select is((select last_exit_code from qwf.job_details), -9, 'of the fourth, which a signal killed');
