-- Deploy qwf:views/schedule_overview
-- requires: schema/schedules
-- requires: schema/jobs
-- requires: schema/runs
-- requires: functions/now
-- Purpose: The schedules: what, when, and how the last went.

begin;

create view qwf.schedule_overview as
select
  s.name,
  coalesce('task ' || s.task, 'workflow ' || s.workflow) as what,
  case
    when s.cron is not null then s.cron
    when s.every is not null then format('every %s', s.every)
    else format('minute %s of %s', s.minute,
      coalesce('hours ' || array_to_string(s.hours, ','), 'every hour'))
  end as due,
  case when s.every is null then s.timezone end as timezone,
  s.enabled,
  s.next_at,
  date_trunc('second', s.next_at - qwf.now()) as next_in,
  s.last_fired_at,
  coalesce(j.status::text, r.status::text) as last_status,
  s.last_job_id, s.last_run_id, s.fired, s.skipped, s.failed, s.last_error, s.queue, s.priority,
  s.project, s.catch_up, s.overlap, s.args
from qwf.schedules s
left join qwf.jobs j on j.id = s.last_job_id
left join qwf.runs r on r.id = s.last_run_id
order by s.next_at, s.name;
comment on view qwf.schedule_overview is 'One row per schedule, the next due first.';
comment on column qwf.schedule_overview.name is 'What it is called.';
comment on column qwf.schedule_overview.what is 'The task or workflow it enqueues.';
comment on column qwf.schedule_overview.due is 'When it is due.';
comment on column qwf.schedule_overview.timezone is
  'Time zone in which that is read; null where none matters.';
comment on column qwf.schedule_overview.enabled is 'False: it does not fire.';
comment on column qwf.schedule_overview.next_at is
  'When it is next due; null while it is not enabled.';
comment on column qwf.schedule_overview.next_in is
  'How long until then; negative: it waits, or no tick has come by.';
comment on column qwf.schedule_overview.last_fired_at is 'When it last fired.';
comment on column qwf.schedule_overview.last_status is
  'State of the job or run it enqueued last; null: none, or gone.';
comment on column qwf.schedule_overview.last_job_id is 'Job it enqueued last.';
comment on column qwf.schedule_overview.last_run_id is 'Run it enqueued last.';
comment on column qwf.schedule_overview.fired is 'How often it fired.';
comment on column qwf.schedule_overview.skipped is
  'How often it was due and did not fire, because of overlap or of catch_up none.';
comment on column qwf.schedule_overview.failed is 'How often it was due and could not enqueue.';
comment on column qwf.schedule_overview.last_error is
  'Why it could not enqueue the last time it was due.';
comment on column qwf.schedule_overview.queue is 'Queue of the job.';
comment on column qwf.schedule_overview.priority is 'Priority of the job or run.';
comment on column qwf.schedule_overview.project is 'Tenant tag of the job or run.';
comment on column qwf.schedule_overview.catch_up is 'What is done about times that were missed.';
comment on column qwf.schedule_overview.overlap is 'What is done while the one before is not over.';
comment on column qwf.schedule_overview.args is 'Args of the job, context of the run.';

commit;
