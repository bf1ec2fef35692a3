-- Deploy qwf:views/jobs/failed_jobs
-- Purpose: Jobs that failed, newest first.
-- Guarantees: Who does not read host or released does not pay for them.

begin;

create view qwf.failed_jobs as
select
  j.id, j.run_id, j.node_id, j.task, j.queue, j.project, j.attempt, j.claimed_by as worker,
  j.finished_at, left(split_part(j.last_error, E'\n', 1), 80) as error, w.host,
  case when length(j.last_error) > 4000
    then left(j.last_error, 2000) || E'\n' || right(j.last_error, 2000) else j.last_error
  end as whole_error,
  (select count(*) from qwf.job_attempts a
    where a.job_id = j.id and a.outcome = 'released') as released
from qwf.jobs j
left join qwf.workers w on w.id = j.claimed_by
where j.status = 'failed' and coalesce(not starts_with(j.queue, 'qwf.'), true)
order by j.finished_at desc;
comment on view qwf.failed_jobs is
  'Failed jobs, the newest first, with the first line of their error; retry with select '
  'qwf.retry_job(id), or select qwf.retry_run(run_id).';
comment on column qwf.failed_jobs.id is 'Job id.';
comment on column qwf.failed_jobs.run_id is 'Run it is a node of; null: standalone.';
comment on column qwf.failed_jobs.node_id is 'Its node.';
comment on column qwf.failed_jobs.task is 'Name of the task or program that a worker ran.';
comment on column qwf.failed_jobs.queue is 'Queue that served it.';
comment on column qwf.failed_jobs.project is 'Tenant tag.';
comment on column qwf.failed_jobs.attempt is 'Claims.';
comment on column qwf.failed_jobs.worker is 'Worker of the last claim.';
comment on column qwf.failed_jobs.finished_at is 'When it failed.';
comment on column qwf.failed_jobs.error is
  'First line of the last error, cut; all of it is in qwf.jobs.';
comment on column qwf.failed_jobs.host is
  'Box of that worker; null: it is not known any more.';
comment on column qwf.failed_jobs.whole_error is
  'The last error; of one longer than 4,000 characters its begin and its end.';
comment on column qwf.failed_jobs.released is 'Attempts that were handed back.';

commit;
