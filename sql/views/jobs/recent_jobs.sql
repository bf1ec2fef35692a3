-- Deploy qwf:views/jobs/recent_jobs
-- Purpose: The newest jobs, both nodes and standalone jobs.

begin;

create view qwf.recent_jobs as
select
  j.id, j.run_id, j.node_id, j.task, j.queue, j.project, j.status, j.attempt,
  j.claimed_by as worker,
  round(extract(epoch from
    coalesce(j.finished_at, case when j.status = 'running' then clock.now end) - j.claimed_at),
    3) as seconds,
  date_trunc('second', j.created_at) as created_at,
  left(split_part(j.last_error, E'\n', 1), 80) as error
from qwf.jobs j
cross join (select qwf.now() as now) clock
order by j.id desc
limit 200;
comment on view qwf.recent_jobs is 'The newest 200 jobs.';
comment on column qwf.recent_jobs.id is 'Job id.';
comment on column qwf.recent_jobs.run_id is 'Run it is a node of; null: standalone.';
comment on column qwf.recent_jobs.node_id is 'Its node.';
comment on column qwf.recent_jobs.task is 'Name of the task or program that a worker runs.';
comment on column qwf.recent_jobs.queue is 'Queue that serves it.';
comment on column qwf.recent_jobs.project is 'Tenant tag.';
comment on column qwf.recent_jobs.status is 'State of the job.';
comment on column qwf.recent_jobs.attempt is 'Claims so far.';
comment on column qwf.recent_jobs.worker is 'Worker of the last claim.';
comment on column qwf.recent_jobs.seconds is 'Seconds the last attempt took, or has taken so far.';
comment on column qwf.recent_jobs.created_at is 'When it was enqueued.';
comment on column qwf.recent_jobs.error is
  'First line of the last error, cut; all of it is in qwf.jobs.';

commit;
