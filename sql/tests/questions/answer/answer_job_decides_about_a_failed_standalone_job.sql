-- 4 tests
select qwf.enqueue('mail', on_failure => 'ask');
select qwf_test.claim('default');
select qwf_test.report('mail', 'fatal', error => 'no good');
select is(qwf_test.state('mail'), 'awaiting_input', 'it asks');
select qwf.answer_job(qwf_test.job('mail'), '"retry"');
select is(qwf_test.state('mail'), 'queued', 'retried');
select qwf_test.claim('default');
select qwf_test.report('mail', 'fatal');
select qwf.answer_job(qwf_test.job('mail'), '"abort"');
select is(qwf_test.state('mail'), 'failed', 'aborted');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
