-- 8 tests
select qwf.enqueue('a', max_attempts => 3, backoff => '[0]');
select is(qwf.read_log(qwf_test.job('a')), null, 'nothing has ended');
select qwf_test.attempt('a', 'error', detail => '{"log_tail": "first\n"}');
select qwf_test.attempt('a', 'error', detail => '{"log_tail": "second\n"}');
select is(qwf.read_log(qwf_test.job('a')), E'second\n', 'the newest');
select is(qwf.read_log(qwf_test.job('a'), 1), E'first\n', 'the named one');
select qwf_test.travel('1 s'), _qwf.promote_due();
select qwf.claim('default', 'w');
select is(qwf.read_log(qwf_test.job('a'), 3), null, 'the third runs');
select is(qwf.read_log(qwf_test.job('a')), E'second\n', 'the newest that has ended');
select qwf_test.report('a', detail => '{"log_tail": ""}');
select is(qwf.read_log(qwf_test.job('a'), 3), '', 'it printed nothing');
select is(qwf.read_log(qwf_test.job('a')), '', 'which is the newest');
select qwf.enqueue('b');
select qwf_test.attempt('b', 'completed');
select is(qwf.read_log(qwf_test.job('b')), null, 'its worker sent no log');
