-- Without the filter it would compare every job with every worker.
insert into qwf.jobs (task, queue, status)
select 'a', 'cpu', 'queued' from generate_series(1, 5000);
analyze qwf.jobs;
select matches(qwf_test.plan_of('select * from qwf.job_workers where job_id = 7'),
  'jobs_pkey on jobs j\s+Index Cond: \(id = ', 'the job is found by its id');
