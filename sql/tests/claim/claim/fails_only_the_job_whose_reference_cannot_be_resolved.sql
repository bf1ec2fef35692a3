-- 5 tests
-- QW004 is that job's end; the rest of the batch is still handed out.
select qwf_test.workflow('pair',
  '[{"id": "a"}, {"id": "b", "depends_on": ["a"], "inputs": {"x": {"$from": "a.gone"}}}]');
select qwf.enqueue_run('pair');
select qwf_test.attempt('s/a');
select qwf.enqueue('healthy', queue => 'cpu');
select is(qwf_test.claim('cpu', 5), 'claimed healthy', 'the others are handed out');
select results_eq($$
  select status::text, last_error ~ '^QW004: .*gone', attempt, finished_at is not null
  from qwf.jobs where id = qwf_test.job('s/b')
$$, $$ values ('failed', true, 1, true) $$, 'the job failed, naming the reference');
select results_eq($$
  select outcome, reason, error ~ 'gone' from qwf.attempt_overview
  where job_id = qwf_test.job('s/b')
$$, $$ values ('fatal', 'unresolved', true) $$, 'the claim is an attempt that says why');
select is_empty($$ select * from qwf.check_invariants() $$, 'the event for its run is written');
select qwf.tick();
select results_eq($$ select status::text, error ~ '^s/b failed: QW004.*gone' from qwf.runs $$, $$
  values ('failed', true) $$,
  'the run failed with the reason');
