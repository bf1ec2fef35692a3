select qwf.enqueue('a');
select qwf_test.claim('default');
select qwf.cancel_job(qwf_test.job('a'));
select is(qwf.progress(qwf_test.job('a'), qwf_test.token('a'), 0.5), 'cancel', 'stop the body');
