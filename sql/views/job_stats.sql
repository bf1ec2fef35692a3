-- Deploy qwf:views/job_stats
-- requires: schema/statistics
-- Purpose: How many attempts ended how, and how long they waited and ran, by the hour.
-- A percentile is the middle of the bucket that holds it (see _bucket), so within a tenth of the
-- exact one. The longest is known, and stands for itself.

begin;

create view qwf.job_stats as
select
  h.hour, h.queue, h.task, h.outcome, h.count,
  round((h.wait_seconds / h.count)::numeric, 3) as wait_avg,
  round(w.p50::numeric, 3) as wait_p50,
  round(w.p90::numeric, 3) as wait_p90,
  round(w.p99::numeric, 3) as wait_p99,
  round(h.wait_max::numeric, 3) as wait_max,
  round((h.run_seconds / h.count)::numeric, 3) as run_avg,
  round(r.p50::numeric, 3) as run_p50,
  round(r.p90::numeric, 3) as run_p90,
  round(r.p99::numeric, 3) as run_p99,
  round(h.run_max::numeric, 3) as run_max
from qwf.hourly_counts h
cross join lateral (
  select
    min(t.seconds) filter (where t.seen >= 0.5::float8 * h.count) as p50,
    min(t.seconds) filter (where t.seen >= 0.9::float8 * h.count) as p90,
    min(t.seconds) filter (where t.seen >= 0.99::float8 * h.count) as p99
  from (
    select least(1.2::float8 ^ (b.n - 1.5) / 1000, h.wait_max) as seconds,
      sum(b.count) over (order by b.n) - (b.n = cardinality(h.waits))::int as seen
    from unnest(h.waits) with ordinality b (count, n)
    union all
    select h.wait_max, h.count
  ) t
) w
cross join lateral (
  select
    min(t.seconds) filter (where t.seen >= 0.5::float8 * h.count) as p50,
    min(t.seconds) filter (where t.seen >= 0.9::float8 * h.count) as p90,
    min(t.seconds) filter (where t.seen >= 0.99::float8 * h.count) as p99
  from (
    select least(1.2::float8 ^ (b.n - 1.5) / 1000, h.run_max) as seconds,
      sum(b.count) over (order by b.n) - (b.n = cardinality(h.runs))::int as seen
    from unnest(h.runs) with ordinality b (count, n)
    union all
    select h.run_max, h.count
  ) t
) r
order by h.hour desc, h.queue, h.task, h.outcome;
comment on view qwf.job_stats is
  'Attempts that ended, per hour, queue, task and outcome, with seconds waited and run: '
  'select * from qwf.job_stats where hour > now() - interval ''1 day''.';
comment on column qwf.job_stats.hour is 'Hour in which they ended.';
comment on column qwf.job_stats.queue is 'Queue of the jobs.';
comment on column qwf.job_stats.task is 'Task of the jobs.';
comment on column qwf.job_stats.outcome is 'How the attempts ended.';
comment on column qwf.job_stats.count is 'How many, without those of the last ten seconds.';
comment on column qwf.job_stats.wait_avg is 'Mean wait from claimable to claimed, seconds.';
comment on column qwf.job_stats.wait_p50 is 'Median wait, seconds, within a tenth.';
comment on column qwf.job_stats.wait_p90 is 'Wait that nine of ten stayed below, within a tenth.';
comment on column qwf.job_stats.wait_p99 is 'Wait that 99 of 100 stayed below, within a tenth.';
comment on column qwf.job_stats.wait_max is 'Longest wait, seconds.';
comment on column qwf.job_stats.run_avg is 'Mean time from claimed to ended, seconds.';
comment on column qwf.job_stats.run_p50 is 'Median run time, seconds, within a tenth.';
comment on column qwf.job_stats.run_p90 is 'Run time that nine of ten stayed below.';
comment on column qwf.job_stats.run_p99 is 'Run time that 99 of 100 stayed below.';
comment on column qwf.job_stats.run_max is 'Longest run time, seconds.';

commit;
