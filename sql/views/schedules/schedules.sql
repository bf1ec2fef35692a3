-- Schedules and their firings.

-- The times of schedules, and what each of them led to: a row for each firing, and one for times
-- in a row that were left out for the same reason.
create view qwf.firing_details as
select
  f.id, f.schedule, f.backfill_of, coalesce(f.backfill_of, f.schedule) as of_schedule, f.due_at,
  f.since, f.times, f.at, f.outcome, f.reason, f.error, f.job_id, f.run_id,
  coalesce(f.result, w.status, w.gone) as result,
  coalesce(f.ended_at, w.finished_at) as ended_at,
  coalesce(f.result, j.status::text, r.status::text, w.gone) as status,
  case f.reason
    when 'overlap' then 'the last one was not over'
    when 'missed' then 'no tick came in time'
    when 'completed' then 'it had completed before'
    when 'open' then 'it was being worked on'
    else f.error end as because
from qwf.firings f
left join qwf.jobs j on j.id = f.job_id and f.result is null
left join qwf.runs r on r.id = f.run_id and f.result is null
cross join lateral (
  select
    coalesce(j.finished_at, r.finished_at) as finished_at,
    case when j.finished_at is not null then j.status::text
      when r.finished_at is not null then r.status::text end as status,
    case when f.outcome <> 'fired' or f.result is not null or num_nonnulls(j.id, r.id) = 1 then null
      when exists (
        select from qwf.schedules s join qwf.queues q on q.name = s.queue
        where s.name = f.schedule and not q.keep_completed)
      then 'completed' else 'unknown' end as gone) w;
comment on view qwf.firing_details is
  'The times of schedules, and what each of them led to. A later row has a larger id.';
comment on column qwf.firing_details.id is 'Number of the row.';
comment on column qwf.firing_details.schedule is 'The schedule; it may be dropped by now.';
comment on column qwf.firing_details.backfill_of is
  'The schedule that it backfills; null: it is no backfill.';
comment on column qwf.firing_details.of_schedule is
  'The schedule whose time it is: backfill_of, or else schedule.';
comment on column qwf.firing_details.due_at is
  'The time that it fired for, or of several times the last; null: fired by hand for no time.';
comment on column qwf.firing_details.since is 'The first of several times; null: it is one time.';
comment on column qwf.firing_details.times is
  'How many times the row stands for. Of an outage at most 1,000 are counted.';
comment on column qwf.firing_details.at is 'When this happened; of several times, the last.';
comment on column qwf.firing_details.outcome is
  'fired, skipped (left out) or failed (enqueuing was refused).';
comment on column qwf.firing_details.reason is
  'Why it was left out: overlap, missed, completed or open; else null.';
comment on column qwf.firing_details.error is 'Why enqueuing was refused.';
comment on column qwf.firing_details.job_id is 'The job; it may be deleted by now.';
comment on column qwf.firing_details.run_id is 'The run; it may be deleted by now.';
comment on column qwf.firing_details.result is
  'completed, failed, cancelled, or unknown if it was deleted before its end was seen; null: it '
  'has not ended.';
comment on column qwf.firing_details.ended_at is 'When the job or run ended.';
comment on column qwf.firing_details.status is
  'The state of the job or run; null: nothing was enqueued.';
comment on column qwf.firing_details.because is 'Why it did not fire, in words.';

-- The schedules: what they enqueue, when, and how the last firing went; of a backfill how far it
-- is.
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
  (
    select max(e.at) from (
      select max(f.ended_at) as at from qwf.firings f
      where coalesce(f.backfill_of, f.schedule) = s.name and f.result = 'completed'
      union all
      select j.finished_at where j.status = 'completed'
      union all
      select r.finished_at where r.status = 'completed') e) as last_success_at,
  s.last_job_id, s.last_run_id, s.last_fired_at, s.catch_up, s.overlap, s.queue, s.every,
  s.options, s.backfill_of, s.at_once, s.again, s.planned, s.ends_at, s.resume_at,
  p.open, p.completed, p.failed as ended_otherwise,
  case when s.backfill_of is not null then s.planned - s.fired - s.skipped - s.failed end as ahead,
  s.task, s.workflow, s.cron, s.minute, s.hours, s.priority, s.expect
from qwf.schedules s
cross join (select qwf.now() as now) clock
left join qwf.jobs j on j.id = s.last_job_id
left join qwf.runs r on r.id = s.last_run_id
left join lateral (
  select
    count(*) filter (where d.result is null) as open,
    count(*) filter (where d.result = 'completed') as completed,
    count(*) filter (where d.result <> 'completed') as failed
  from qwf.firing_details d
  where d.schedule = s.name and d.outcome = 'fired' and s.backfill_of is not null
  having s.backfill_of is not null) p on true
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
  'How many times were left out; firing_details says which, and why.';
comment on column qwf.schedule_overview.failed is 'How often it was due and could not enqueue.';
comment on column qwf.schedule_overview.last_error is
  'Why it could not enqueue when it was last due.';
comment on column qwf.schedule_overview.args is 'Args of the job, context of the run.';
comment on column qwf.schedule_overview.last_success_at is
  'When the newest of its jobs or runs that completed has ended, also of its backfills; null: none '
  'is known.';
comment on column qwf.schedule_overview.last_job_id is 'Job that it enqueued last; null: none.';
comment on column qwf.schedule_overview.last_run_id is 'Run that it enqueued last; null: none.';
comment on column qwf.schedule_overview.last_fired_at is 'When it fired last.';
comment on column qwf.schedule_overview.catch_up is
  'How it treats missed times. one: it fires for the latest; none: for none; all: for each.';
comment on column qwf.schedule_overview.overlap is
  'While its last work goes on: skip: it does not fire; allow: it does; replace: it cancels that '
  'work first.';
comment on column qwf.schedule_overview.queue is 'Queue of its jobs; null: it enqueues runs.';
comment on column qwf.schedule_overview.every is 'Its interval; null: it has none.';
comment on column qwf.schedule_overview.options is 'Other options of the job or run.';
comment on column qwf.schedule_overview.backfill_of is
  'The schedule that it backfills; null, as the columns after it: it is no backfill.';
comment on column qwf.schedule_overview.at_once is 'How many of its firings may be open at once.';
comment on column qwf.schedule_overview.again is
  'True: it also fires for times that have completed before.';
comment on column qwf.schedule_overview.planned is 'How many times the backfill has.';
comment on column qwf.schedule_overview.ends_at is 'End of its times, itself not one of them.';
comment on column qwf.schedule_overview.resume_at is
  'The time at which it goes on when it is switched on; null: it is on, or has ended.';
comment on column qwf.schedule_overview.open is 'How many of its jobs or runs have not ended.';
comment on column qwf.schedule_overview.completed is 'How many of its jobs or runs completed.';
comment on column qwf.schedule_overview.ended_otherwise is
  'How many of its jobs or runs failed, were cancelled, or are not known.';
comment on column qwf.schedule_overview.ahead is 'How many of its times are still to come.';
comment on column qwf.schedule_overview.task is 'Task of its jobs; null: it enqueues runs.';
comment on column qwf.schedule_overview.workflow is 'Workflow of its runs; null: it enqueues jobs.';
comment on column qwf.schedule_overview.cron is 'Its cron line; null: it has none.';
comment on column qwf.schedule_overview.minute is 'Minute of the hour; null: it has none.';
comment on column qwf.schedule_overview.hours is 'Hours of the day; null: every hour.';
comment on column qwf.schedule_overview.priority is 'Priority of the job or run.';
comment on column qwf.schedule_overview.expect is 'Expectations of its work; null: none.';
