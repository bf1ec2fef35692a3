-- 2 tests
select qwf.enqueue('a');
select qwf_test.claim('default');
select qwf.cancel_job(qwf_test.job('a'));
select qwf_test.lapse('a');
select is(qwf_test.state('a'), 'cancelled', 'its worker is gone: no one to notify');
select is_empty('select * from qwf.cancel_requests', 'the request is settled');
