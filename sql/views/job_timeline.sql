-- Deploy qwf:views/job_timeline
-- requires: schema/history
-- requires: schema/jobs
-- Purpose: Every attempt at every job, with what it waited, took and used.

begin;

create view qwf.job_timeline as
select
  a.job_id, j.run_id, j.node_id, j.task, a.attempt, a.worker, a.outcome, a.reason,
  a.started_at - a.queued_at as waited, a.finished_at - a.started_at as took, a.exit_code, a.signal,
  a.max_rss_bytes, a.cpu_seconds, a.error, a.started_at, a.finished_at
from qwf.job_attempts a join qwf.jobs j on j.id = a.job_id
order by a.job_id, a.attempt;
comment on view qwf.job_timeline is
  'Attempts of a job in order: select * from qwf.job_timeline where job_id = 1.';
comment on column qwf.job_timeline.job_id is 'The job.';
comment on column qwf.job_timeline.run_id is 'Its run; null: standalone.';
comment on column qwf.job_timeline.node_id is 'Its node.';
comment on column qwf.job_timeline.task is 'What the worker ran.';
comment on column qwf.job_timeline.attempt is 'Which claim it was, from 1.';
comment on column qwf.job_timeline.worker is 'Worker that held it.';
comment on column qwf.job_timeline.outcome is 'How it ended.';
comment on column qwf.job_timeline.reason is 'Closer cause.';
comment on column qwf.job_timeline.waited is 'From claimable to claimed.';
comment on column qwf.job_timeline.took is 'From claimed to the end.';
comment on column qwf.job_timeline.exit_code is 'Exit code of the child or command.';
comment on column qwf.job_timeline.signal is 'Signal that killed it.';
comment on column qwf.job_timeline.max_rss_bytes is 'Largest resident memory, bytes.';
comment on column qwf.job_timeline.cpu_seconds is 'CPU time, seconds.';
comment on column qwf.job_timeline.error is 'Error text.';
comment on column qwf.job_timeline.started_at is 'When it was claimed.';
comment on column qwf.job_timeline.finished_at is 'When its end was written.';

commit;
