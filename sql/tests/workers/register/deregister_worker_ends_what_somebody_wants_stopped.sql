select qwf.enqueue('a');
select qwf_test.claim('default');
select qwf.cancel_job(qwf_test.job('a'));
select qwf.deregister_worker('w');
select is(qwf_test.state('a'), 'cancelled', 'rather than handing it back');
