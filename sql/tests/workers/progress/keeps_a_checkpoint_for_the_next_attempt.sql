-- 10 tests
-- A training that is lost, fails and is retried goes on from what it saved last; the job that
-- completes keeps it until it is deleted.
select qwf.enqueue('a', max_attempts => 2);
select is((select checkpoint from qwf.claim('default', 'w')), null, 'nothing was saved before');
select is(qwf.progress(qwf_test.job('a'), qwf_test.token('a'), checkpoint => '{"epoch": 6}'), 'ok',
  'saved');
select is(qwf.progress(qwf_test.job('a'), qwf_test.token('a'), 0.7, 'seven', '{"epoch": 7}'), 'ok',
  'the last one counts');
select results_eq('select progress, progress_message, checkpoint, checkpoint_attempt
  from qwf.job_details', $$ values (0.7::real, 'seven', jsonb '{"epoch": 7}', 1) $$, 'shown');
select qwf_test.lapse('a');
select is((select checkpoint from qwf.claim('default', 'v')), '{"epoch": 7}', 'after a loss');
select qwf_test.report('a', 'error', error => 'boom');
select qwf_test.travel('1 day'), _qwf.promote_due();
select is((select checkpoint from qwf.finish_and_claim('[]', 'default', 'v')), '{"epoch": 7}',
  'after a failure');
select qwf_test.report('a', 'fatal', error => 'boom');
select qwf.retry_job(qwf_test.job('a'), '{"rate": 2}');
select is((select checkpoint from qwf.claim('default', 'v')), '{"epoch": 7}', 'after a retry');
select qwf_test.report('a');
select is((select checkpoint_attempt from qwf.job_details), 1, 'kept with the job');
select is_empty('select * from qwf.check_invariants()', 'all is well');
select qwf_test.travel('400 days'), qwf.prune();
select is_empty('select * from qwf.checkpoints', 'and deleted with it');
