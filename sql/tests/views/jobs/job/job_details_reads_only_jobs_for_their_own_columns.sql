-- 2 tests
-- Lists read this view, also of a million jobs: what they do not show may cost nothing.
insert into qwf.jobs (task, queue, status, finished_at)
select 'a', 'cpu', case when n % 100 = 0 then 'failed' else 'completed' end::qwf.job_status,
  '2030-01-01'::timestamptz + n * interval '1 s'
from generate_series(1, 5000) n;
analyze qwf.jobs;
select doesnt_match(qwf_test.plan_of(
  'select id, task, status, last_error, inputs from qwf.job_details where run_id = 1'),
  'on (runs|queues|workers|cancel_requests|settings|job_attempts)', 'no other table is read');
select matches(qwf_test.plan_of($$
    select id, last_error from qwf.job_details
    where status = 'failed' order by finished_at desc limit 10
  $$), 'Index Scan Backward using jobs_due_or_failed', 'and it walks an index of failures');
