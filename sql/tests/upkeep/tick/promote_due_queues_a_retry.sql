-- 2 tests
select qwf.enqueue('a', max_attempts => 2);
select qwf_test.attempt('a', 'error');
select qwf_test.travel('1 h');
select is(_qwf.promote_due(), 1, 'the backoff is over');
select is(qwf_test.state('a'), 'queued', 'it may be tried again');
