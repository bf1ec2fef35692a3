-- Deploy qwf:views/jobs/attempt_overview
-- Purpose: The attempts at jobs that have ended, with what they used, printed and failed of.
-- Guarantees: Who does not read columns of the job or the box does not pay for them. An invalid
--   number in a report is null.

begin;

create view qwf.attempt_overview as
select
  a.job_id, a.attempt, j.run_id, j.node_id, j.task, j.project, a.token, a.worker,
  coalesce(w.host, split_part(a.worker, ':', 1)) as host, a.queued_at, a.started_at, a.finished_at,
  a.outcome, left(a.detail ->> 'reason', 1000) as reason, a.error,
  _qwf.as_number(a.detail -> 'exit_code', 65535)::int as exit_code,
  _qwf.as_number(a.detail -> 'signal', 255)::int as signal,
  _qwf.as_number(a.detail -> 'max_rss_bytes')::bigint as max_rss_bytes,
  _qwf.as_number(a.detail -> 'cpu_seconds')::real as cpu_seconds,
  _qwf.as_number(a.detail -> 'body_s', 1e9)::real as body_seconds,
  _qwf.as_number(a.detail -> 'gpu_peak_bytes')::bigint as gpu_peak_bytes, a.log_tail,
  case when jsonb_typeof(a.detail -> 'usage') = 'object' then a.detail -> 'usage' end as usage,
  case when jsonb_typeof(a.detail #> '{batch,jobs}') = 'array'
    and jsonb_typeof(a.detail #> '{batch,size}') = 'number' then a.detail -> 'batch' end as batch
from qwf.job_attempts a
left join qwf.jobs j on j.id = a.job_id
left join qwf.workers w on w.id = a.worker;
comment on view qwf.attempt_overview is
  'Attempts that have ended: select * from qwf.attempt_overview where job_id = 7 order by '
  'attempt.';
comment on column qwf.attempt_overview.job_id is 'The job.';
comment on column qwf.attempt_overview.attempt is 'Which claim of the job it was, from 1.';
comment on column qwf.attempt_overview.run_id is 'Run of the job; null: standalone.';
comment on column qwf.attempt_overview.node_id is 'Node of the job.';
comment on column qwf.attempt_overview.task is 'Name of the task or program that the worker ran.';
comment on column qwf.attempt_overview.project is 'Tenant tag of the job.';
comment on column qwf.attempt_overview.token is 'Token of that claim, which is spent.';
comment on column qwf.attempt_overview.worker is 'Worker that held it.';
comment on column qwf.attempt_overview.host is 'Box of that worker.';
comment on column qwf.attempt_overview.queued_at is 'When the job had become claimable.';
comment on column qwf.attempt_overview.started_at is 'When it was claimed.';
comment on column qwf.attempt_overview.finished_at is 'When its end was recorded.';
comment on column qwf.attempt_overview.outcome is
  'completed, error, fatal, tempfail, lost, released or cancelled.';
comment on column qwf.attempt_overview.reason is
  'Exact cause: crashed, timeout, oom, lease_lapsed, accelerator, unresolved and so on.';
comment on column qwf.attempt_overview.error is 'Error text; of a long one, the start and the end.';
comment on column qwf.attempt_overview.exit_code is 'Exit code of the child or command.';
comment on column qwf.attempt_overview.signal is 'Signal that killed it.';
comment on column qwf.attempt_overview.max_rss_bytes is
  'Largest resident memory of the child, bytes.';
comment on column qwf.attempt_overview.cpu_seconds is 'CPU time used, seconds.';
comment on column qwf.attempt_overview.body_seconds is
  'How long the body ran, seconds; null: the worker did not say it. From started_at on, an agent '
  'may have run other jobs of the same claim first.';
comment on column qwf.attempt_overview.gpu_peak_bytes is 'Largest GPU memory used, bytes.';
comment on column qwf.attempt_overview.log_tail is
  'Output of the body, cut as qwf.job_attempts says; null: the worker sent no log.';
comment on column qwf.attempt_overview.usage is
  'Tokens that the body used of model servers, as these count them.';
comment on column qwf.attempt_overview.batch is
  'The batch in which it ran: size, and the ids of its first 20 jobs; null: it ran alone.';

commit;
