-- Deploy qwf:views/schedules/firing_details
-- Purpose: The times of schedules, and what each of them led to: a row for each firing, and one for
--   times in a row that were left out for the same reason.

begin;

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

commit;
