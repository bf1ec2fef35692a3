-- 2 tests
select qwf.create_queue('short', keep_completed => false);
select qwf.enqueue('a', queue => 'short');
select qwf.claim('short', 'w');
select qwf.progress(qwf_test.job('a'), qwf_test.token('a'),
  series => '{"names": {"loss": {"points": [[1, 0.9]]}}}');
select qwf.finish(qwf_test.job('a'), qwf_test.token('a'), 'completed');
select is_empty('select * from qwf.jobs', 'the job leaves no row');
select is_empty('select * from qwf.attempt_series', 'and no numbers');
