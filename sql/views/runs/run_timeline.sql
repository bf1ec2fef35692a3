-- Deploy qwf:views/runs/run_timeline
-- Purpose: When each node of a run waited and ran, as one row a node, however many elements a map
--   has and however often they were tried.
-- Guarantees: One row a node. Reads the attempts of the run once, and those of no other run. A run
--   of 100,000 attempts takes less than a second.
-- Called by: people, qwf web.

begin;

create view qwf.run_timeline as
select
  n.run_id, n.node_idx as idx, n.id as job_id, n.node_id, n.elements is not null as is_map,
  t.attempts, t.running, t.failed, t.queued_at, t.started_at, t.ended_at, t.waited, t.ran,
  t.typical, t.slowest, t.slowest_job, t.outcomes, t.at_once, t.failures,
  case when starts_with(n.queue, 'qwf.') then (
    select r.id from qwf.runs r
    where r.parent_id = n.id order by r.id desc limit 1) end as child_run
from qwf.jobs n
cross join (select qwf.now() as now) clock
cross join lateral (
  with job as materialized (
    select n.id, n.status, n.queued_at, n.claimed_at
    union all
    (select c.id, c.status, c.queued_at, c.claimed_at
     from qwf.jobs c where c.parent_id = n.id
     order by c.element limit coalesce(n.elements, 0))  -- so it is read by its index
  ), attempt as materialized (  -- date_part: extract() makes a numeric, which is slow
    select
      a.id, a.outcome, date_part('epoch', a.started_at) as start_s,
      date_part('epoch', a.ended_at) as end_s,
      case when isfinite(a.queued_at) then date_part('epoch', a.queued_at) end as queue_s
    from (
      select j.id, t.outcome, t.queued_at, t.started_at, greatest(t.finished_at, t.started_at)
      from job j
      cross join lateral (  -- offset: else the planner may read the attempts of all runs
        select t.outcome, t.queued_at, t.started_at, t.finished_at
        from qwf.job_attempts t
        where t.job_id = j.id and isfinite(t.started_at) and isfinite(t.finished_at) offset 0) t
      union all
      select j.id, 'running', j.queued_at, j.claimed_at, greatest(clock.now, j.claimed_at)
      from job j where j.status = 'running' and isfinite(j.claimed_at)
    ) a (id, outcome, queued_at, started_at, ended_at)
  ), whole as (
    select
      count(*) as attempts, count(*) filter (where a.outcome = 'running') as running,
      count(*) filter (where a.outcome not in ('running', 'completed')) as failed,
      min(least(a.queue_s, a.start_s)) as queue_s, sum(a.end_s - a.start_s) as ran,
      sum(a.start_s - a.queue_s) as waited,
      percentile_cont(0.5) within group (order by a.end_s - a.start_s) as typical,
      max(a.end_s - a.start_s) as slowest, min(a.start_s) as start_s,
      greatest(max(a.end_s), min(a.start_s) + 1e-5) as end_s,
      count(*) > 40 and n.node_idx < 100 or count(*) > 0 and n.elements is not null as is_folded
    from attempt a
  ), slowest as (
    select a.id from attempt a order by a.end_s - a.start_s desc, a.id limit 1
  ), started as (
    select least(200, width_bucket(a.start_s, w.start_s, w.end_s, 200)) as slice, count(*) as count
    from whole w cross join attempt a
    where w.is_folded
    group by 1
  ), ended as (
    select least(200, width_bucket(a.end_s, w.start_s, w.end_s, 200)) as slice, count(*) as count,
      count(*) filter (where a.outcome not in ('running', 'completed')) as failed
    from whole w cross join attempt a
    where w.is_folded
    group by 1
  ), slice as (  -- what ends in a slice has gone on in it
    select
      s.slice, coalesce(e.failed, 0) as failed,
      sum(coalesce(b.count, 0)) over (order by s.slice)
        - sum(coalesce(e.count, 0)) over (order by s.slice) + coalesce(e.count, 0) as at_once
    from whole w
    cross join generate_series(1, 200) s (slice)
    left join started b on b.slice = s.slice
    left join ended e on e.slice = s.slice
    where w.is_folded
  )
  select
    w.*, to_timestamp(w.queue_s) as queued_at, to_timestamp(w.start_s) as started_at,
    to_timestamp(w.end_s) as ended_at,
    array(select distinct a.outcome from attempt a order by 1) as outcomes,
    (select s.id from slowest s) as slowest_job,
    (select array_agg(s.at_once::int order by s.slice) from slice s) as at_once,
    (select array_agg(s.failed::int order by s.slice) from slice s) as failures
  from whole w
) t
where n.run_id is not null and n.node_idx >= 0;
comment on view qwf.run_timeline is
  'When the nodes of a run waited and ran, a map as one row: select * from qwf.run_timeline where '
  'run_id = 7 order by started_at.';
comment on column qwf.run_timeline.run_id is 'Run id.';
comment on column qwf.run_timeline.idx is
  'Place of the node in its graph: idx of workflow_graph().';
comment on column qwf.run_timeline.job_id is 'Job that executes it; of a map, the job of the map.';
comment on column qwf.run_timeline.node_id is 'The node.';
comment on column qwf.run_timeline.is_map is 'True: it runs once for each element of a list.';
comment on column qwf.run_timeline.attempts is
  'Attempts at it and at its elements, those that go on included.';
comment on column qwf.run_timeline.running is 'Of these, those that go on.';
comment on column qwf.run_timeline.failed is 'Of these, those that ended without completing.';
comment on column qwf.run_timeline.queued_at is 'When the first of them began to wait.';
comment on column qwf.run_timeline.started_at is 'When the first of them was claimed.';
comment on column qwf.run_timeline.ended_at is
  'When the last of them ended; now, while one goes on.';
comment on column qwf.run_timeline.waited is 'Seconds that they waited, added up.';
comment on column qwf.run_timeline.ran is 'Seconds that they ran, added up.';
comment on column qwf.run_timeline.typical is 'Seconds that half of them were shorter than.';
comment on column qwf.run_timeline.slowest is 'Seconds of the longest.';
comment on column qwf.run_timeline.slowest_job is 'Job of the longest.';
comment on column qwf.run_timeline.outcomes is 'How they ended, each once; running: one goes on.';
comment on column qwf.run_timeline.at_once is
  'Of a map, and of the first 100 nodes those with more than 40 attempts: how many went on in each '
  'of 200 equal slices of the time from started_at to ended_at.';
comment on column qwf.run_timeline.failures is
  'Beside at_once: how many ended in each slice without completing.';
comment on column qwf.run_timeline.child_run is
  'The run that it is, the last one; null: it runs no workflow, or runs it once for each element.';

commit;
