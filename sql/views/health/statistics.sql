-- How attempts ended, and how long work usually takes.

-- How many attempts ended with which outcome, and how long they waited and ran, per hour. A
-- percentile is the middle of the bucket that holds it (see _histogram), so it is within a tenth
-- of the exact value. The longest time is exact.
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

-- How long runs, nodes and tasks usually take, how the last ones ended, and after which time one
-- is late. One row read for each; as fast with a million runs as with ten. Behind by a tick; of
-- tasks by the time between two roll-ups, ten seconds.
create view qwf.usual as
select
  u.kind, u.name, u.node, u.runs, u.p50, u.p90, u.p95, u.longest, u.last_at, u.last_status,
  u.last_seconds, u.last_success,
  _qwf.late_after(w.definition -> 'expect' -> 'takes', u.runs, u.p95) as late_after,
  u.last
from qwf.usual_times u
left join qwf.workflows w on u.kind = 'run' and w.name = u.name and w.current;
comment on view qwf.usual is
  'How long it usually takes: '
  'select name, p50, p95, late_after from qwf.usual where kind = ''run''.';
comment on column qwf.usual.kind is
  'run (of a workflow), node (of a workflow) or task (its jobs, nodes of runs included).';
comment on column qwf.usual.name is 'The workflow, or the task.';
comment on column qwf.usual.node is 'The node; empty: a run or a task.';
comment on column qwf.usual.runs is
  'How many completed ones the times are from: those of the last 14 to 28 days.';
comment on column qwf.usual.p50 is 'Half of them took less, seconds; within a tenth.';
comment on column qwf.usual.p90 is 'Nine of ten took less, seconds; within a tenth.';
comment on column qwf.usual.p95 is '19 of 20 took less, seconds; within a tenth.';
comment on column qwf.usual.longest is 'The longest that was ever seen, seconds.';
comment on column qwf.usual.last_at is 'When the last one ended.';
comment on column qwf.usual.last_status is 'How it ended.';
comment on column qwf.usual.last_seconds is
  'How long it took; of a run without the time that it waited for answers.';
comment on column qwf.usual.last_success is 'When one last completed; null: none has.';
comment on column qwf.usual.late_after is
  'After how many seconds a run or job is late: as declared (expect.takes), else learned from 10 '
  'that completed; null: not known yet. Only runs and standalone jobs are judged.';
comment on column qwf.usual.last is
  'The last 60 runs, of a node the last 30, the newest first: a list of '
  '{run, status, seconds, at}. Empty for a task.';
