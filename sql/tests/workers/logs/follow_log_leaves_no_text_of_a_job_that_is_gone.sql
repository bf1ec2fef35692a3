-- 5 tests
select qwf.create_queue('short', keep_completed => false);
select qwf.enqueue('a', queue => 'short');
select qwf_test.claim('short');
select qwf.follow_log(qwf_test.job('a'));
select qwf.report_log(qwf_test.job('a'), qwf_test.token('a'), 6, 'secret');
select qwf.finish(qwf_test.job('a'), qwf_test.token('a'), 'completed');
select is_empty('select from qwf.jobs', 'the job is not kept');
select is_empty('select from qwf.live_logs', 'nor is what it printed');

insert into qwf.live_logs (job_id, worker, followed_until)
values (-1, 'w', qwf.now() - interval '2 days');
select results_eq('select invariant, subject from qwf.check_invariants()',
  $$ values ('a live log has its job', 'job -1') $$, 'a log without a job is found');
select qwf.prune();
select is_empty('select from qwf.live_logs', 'prune deletes what nobody follows');
select is_empty('select * from qwf.check_invariants()', 'and all is well');
