-- Whatever the planner believes about how many jobs have failed.
insert into qwf.jobs (task, queue, status, finished_at)
select 'a', 'cpu', case when n % 100 = 0 then 'failed' else 'completed' end::qwf.job_status,
  '2030-01-01'::timestamptz + n * interval '1 s'
from generate_series(1, 5000) n;
analyze qwf.jobs;
select matches(qwf_test.plan_of('select * from qwf.failed_jobs limit 10'),
  'Index Scan Backward using jobs_due_or_failed', 'it walks an index of failures');
