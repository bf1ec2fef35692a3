-- Deploy qwf:views/schedules/schedule_overview
-- Purpose: The schedules: what they enqueue, when, and how the last firing went.

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
  s.project,
  s.enabled,
  s.next_at,
  date_trunc('second', s.next_at - clock.now) as next_in,
  coalesce(j.status::text, r.status::text) as last_status,
  s.fired, s.skipped, s.failed, left(s.last_error, 80) as last_error, s.args,
  coalesce(case when j.status = 'completed' then j.finished_at end,
    case when r.status = 'completed' then r.finished_at end, s.last_success_at) as last_success_at,
  s.last_job_id, s.last_run_id, s.last_fired_at, s.catch_up, s.overlap, s.queue, s.every
from qwf.schedules s
cross join (select qwf.now() as now) clock
left join qwf.jobs j on j.id = s.last_job_id
left join qwf.runs r on r.id = s.last_run_id
order by s.next_at, s.name;
comment on view qwf.schedule_overview is
  'One row per schedule, the next due first; the rest of it is in qwf.schedules.';
comment on column qwf.schedule_overview.name is 'Name of the schedule.';
comment on column qwf.schedule_overview.what is 'The task or workflow it enqueues.';
comment on column qwf.schedule_overview.due is 'When it is due.';
comment on column qwf.schedule_overview.timezone is
  'Time zone of that; null for a schedule with an interval.';
comment on column qwf.schedule_overview.project is 'Tenant tag of the job or run.';
comment on column qwf.schedule_overview.enabled is 'False: it does not fire.';
comment on column qwf.schedule_overview.next_at is
  'When it is due next; null while it is disabled.';
comment on column qwf.schedule_overview.next_in is
  'How long until then; negative: it waits for its last work, or for a tick.';
comment on column qwf.schedule_overview.last_status is
  'State of the job or run it enqueued last; null: none, or deleted.';
comment on column qwf.schedule_overview.fired is 'How often it fired.';
comment on column qwf.schedule_overview.skipped is
  'How often it was due and did not fire, because of overlap or of catch_up none.';
comment on column qwf.schedule_overview.failed is 'How often it was due and could not enqueue.';
comment on column qwf.schedule_overview.last_error is
  'Why it could not enqueue when it was last due.';
comment on column qwf.schedule_overview.args is 'Args of the job, context of the run.';
comment on column qwf.schedule_overview.last_success_at is
  'When the newest of its jobs or runs that completed has ended; null: none has. Not known of a '
  'queue that drops completed jobs, nor of one that ended after the next had started.';
comment on column qwf.schedule_overview.last_job_id is 'Job that it enqueued last; null: none.';
comment on column qwf.schedule_overview.last_run_id is 'Run that it enqueued last; null: none.';
comment on column qwf.schedule_overview.last_fired_at is 'When it fired last.';
comment on column qwf.schedule_overview.catch_up is
  'one, none or all: how often it fires for times that were missed.';
comment on column qwf.schedule_overview.overlap is
  'skip: it does not fire while its last work goes on; allow: it does.';
comment on column qwf.schedule_overview.queue is 'Queue of its jobs; null: it enqueues runs.';
comment on column qwf.schedule_overview.every is 'Its interval; null: it has none.';

commit;
