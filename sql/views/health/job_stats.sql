-- Deploy qwf:views/health/job_stats
-- Purpose: How many attempts ended with which outcome, and how long they waited and ran, per hour.
-- A percentile is the middle of the bucket that holds it (see _histogram), so it is within a tenth
-- of the exact value. The longest time is exact.

begin;

create view qwf.job_stats as
select
  h.hour, h.queue, h.task, h.outcome, h.count,
  round((h.wait_seconds / h.count)::numeric, 3) as wait_avg,
  round(p.wait_p50::numeric, 3) as wait_p50,
  round(p.wait_p90::numeric, 3) as wait_p90,
  round(p.wait_p99::numeric, 3) as wait_p99,
  round(h.wait_max::numeric, 3) as wait_max,
  round((h.run_seconds / h.count)::numeric, 3) as run_avg,
  round(p.run_p50::numeric, 3) as run_p50,
  round(p.run_p90::numeric, 3) as run_p90,
  round(p.run_p99::numeric, 3) as run_p99,
  round(h.run_max::numeric, 3) as run_max
from qwf.hourly_counts h
cross join lateral (
  select
    min(b.seconds) filter (where f.waits and b.seen >= 0.5::float8 * h.count) as wait_p50,
    min(b.seconds) filter (where f.waits and b.seen >= 0.9::float8 * h.count) as wait_p90,
    min(b.seconds) filter (where f.waits and b.seen >= 0.99::float8 * h.count) as wait_p99,
    min(b.seconds) filter (where not f.waits and b.seen >= 0.5::float8 * h.count) as run_p50,
    min(b.seconds) filter (where not f.waits and b.seen >= 0.9::float8 * h.count) as run_p90,
    min(b.seconds) filter (where not f.waits and b.seen >= 0.99::float8 * h.count) as run_p99
  from (values (true, h.waits, h.wait_max), (false, h.runs, h.run_max)) f (waits, counts, longest)
  cross join lateral (
    select least(1.2::float8 ^ (c.n - 1.5) / 1000, f.longest) as seconds,
      sum(c.count) over (order by c.n) - (c.n = cardinality(f.counts))::int as seen
    from unnest(f.counts) with ordinality c (count, n)
    union all
    select f.longest, h.count
  ) b
) p
order by h.hour desc, h.queue, h.task, h.outcome;
comment on view qwf.job_stats is
  'Attempts that ended, per hour, queue, task and outcome, with seconds waited and run: '
  'select * from qwf.job_stats where hour > now() - interval ''1 day''.';
comment on column qwf.job_stats.hour is 'Hour in which they ended.';
comment on column qwf.job_stats.queue is 'Queue of the jobs.';
comment on column qwf.job_stats.task is 'Task of the jobs.';
comment on column qwf.job_stats.outcome is 'How the attempts ended.';
comment on column qwf.job_stats.count is 'How many; those of the last ten seconds may be missing.';
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
