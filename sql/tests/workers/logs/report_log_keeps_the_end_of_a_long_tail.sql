-- 2 tests
select qwf.enqueue('a');
select qwf_test.claim('default');
select qwf.follow_log(qwf_test.job('a'));
select qwf.report_log(qwf_test.job('a'), qwf_test.token('a'), 200000, repeat('x', 199999) || 'y');
select is(octet_length(tail), 65536, 'as much as of an ended attempt') from qwf.live_logs;
select is(right(tail, 2), 'xy', 'its end') from qwf.live_logs;
