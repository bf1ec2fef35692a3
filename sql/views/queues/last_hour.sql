-- Deploy qwf:views/queues/last_hour
-- Purpose: The work of the whole fleet in each of the last 60 full minutes, for the chart of the
--   first page.
-- Guarantees: 60 rows, the oldest first, and no more read than the minutes of the last hour. A
--   minute that nobody looked at has nulls.
-- Called by: people, qwf web.

begin;

create view qwf.last_hour as
select
  h.minute, h.queued, h.running, case when h.began < 0 then 0 else h.began end as started,
  h.completed, h.failed, h.first_wait_seconds
from (
  select
    m.minute, t.queued, t.running, t.completed, t.failed, t.first_wait_seconds,
    lead(t.running) over (order by m.minute) - t.running + t.ended as began
  from (
    select generate_series(
      date_bin('1 minute', clock.now, 'epoch') - interval '60 min',
      date_bin('1 minute', clock.now, 'epoch'), interval '1 min') as minute
    from (select qwf.now() as now) clock
  ) m
  left join lateral (
    select
      sum(q.queued)::bigint as queued, sum(q.running)::bigint as running,
      sum(q.completed)::bigint as completed,
      sum(q.error + q.fatal + q.tempfail + q.lost)::bigint as failed,
      sum(q.completed + q.error + q.fatal + q.tempfail + q.lost + q.released
        + q.cancelled)::bigint as ended,
      max(q.head_wait_seconds) as first_wait_seconds
    from qwf.queue_minutes q
    where q.minute = m.minute and not starts_with(q.queue, 'qwf.')
  ) t on true
) h
order by h.minute
limit 60;
comment on view qwf.last_hour is
  'The work of the whole fleet in each of the last 60 minutes: select * from qwf.last_hour.';
comment on column qwf.last_hour.minute is 'Full minute (UTC).';
comment on column qwf.last_hour.queued is
  'Jobs that waited for a worker at its first tick; null: nobody looked.';
comment on column qwf.last_hour.running is 'Jobs that ran; null: nobody looked.';
comment on column qwf.last_hour.started is
  'Attempts that began: how many more run at the next minute than at this one, and those that '
  'ended. Null: nobody looked at one of the two.';
comment on column qwf.last_hour.completed is 'Attempts that completed; null: nothing is stored.';
comment on column qwf.last_hour.failed is 'Attempts that failed or were lost.';
comment on column qwf.last_hour.first_wait_seconds is
  'How long the first job in claim order had waited, in the queue where it is longest, seconds; '
  'null: none waited, or nobody looked.';

commit;
