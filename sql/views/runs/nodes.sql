-- The nodes of runs, the elements of maps, and their timelines.

-- The state of each node of a run. workflow_graph has what never changes. Of an error and a
-- message, what fits a line. A run of a thousand nodes is read in a few milliseconds.
create view qwf.run_nodes as
select
  j.run_id, j.node_idx as idx, j.id as job_id, j.status, j.attempt,
  case when j.status = 'completed' then 1 else p.fraction end as progress,
  coalesce(left(p.message, 200), case
    when j.elements is not null then (
      select case when n.repeat is null then _qwf.spell_enough((
          select jsonb_object_agg(e.status, e.count) from (
            select c.status, count(*) from qwf.jobs c where c.parent_id = j.id group by c.status
          ) e), n.min_success)
        else (
          select _qwf.spell_turn(t.element, n.repeat -> 'max', t.status, t.run_at)
          from qwf.jobs t where t.parent_id = j.id and t.element = j.elements - 1) end
      from qwf.graph_nodes n
      where n.graph_id = j.graph_id and n.idx = j.node_idx and (n.repeat is not null
        or n.stop_when_reached and j.status = 'completed'
        and (j.failed_elements > 0 or j.remaining_deps > 0)))
    when j.status = 'scheduled' and j.attempt = 0
      then _qwf.spell_turn(null, null, j.status, j.run_at)
    when j.status = 'completed' and j.queue is null and (
      select a.by_default from qwf.input_answers a where a.job_id = j.id order by a.id desc limit 1)
      then case when j.input_spec ? 'signal' then 'no signal in time' else 'nobody answered in time'
        end || ', its default was taken'
    when j.status = 'awaiting_input' and j.input_spec ? 'signal' and not j.input_spec ? 'widget'
      then 'waits for signal ' || left(j.input_spec ->> 'signal', 150)
  end) as message,
  left(case when starts_with(j.last_error, 'Traceback')
    then (regexp_match(right(j.last_error, 400), e'([^\n]+)[[:space:]]*$'))[1]
    else split_part(left(j.last_error, 400), e'\n', 1) end, 200) as error,
  j.claimed_by as worker,
  coalesce((select w.host from qwf.workers w where w.id = j.claimed_by),
    split_part(nullif(j.claimed_by, 'qwf.engine'), ':', 1)) as host,
  j.claimed_at as started_at, j.finished_at,
  case when j.status = 'awaiting_input' then j.queued_at end as waits_since,
  case
    when j.elements is null then null
    when j.status = 'completed' and j.failed_elements = 0 and j.remaining_deps = 0
      then jsonb_build_object('completed', j.elements)
    else coalesce((
      select jsonb_object_agg(e.status, e.count)
      from (
        select c.status, count(*) from qwf.jobs c where c.parent_id = j.id group by c.status
      ) e), '{}')
  end as elements,
  case when starts_with(j.queue, 'qwf.') then (
    select r.id from qwf.runs r
    where r.parent_id = j.id order by r.id desc limit 1) end as child_run
from qwf.jobs j
left join qwf.job_progress p on p.job_id = j.id and p.attempt = j.attempt
where j.run_id is not null and j.node_idx >= 0;
comment on view qwf.run_nodes is
  'State of each node of a run: select * from qwf.run_nodes where run_id = 7 order by idx. A map '
  'is one node.';
comment on column qwf.run_nodes.run_id is 'Run id.';
comment on column qwf.run_nodes.idx is 'Place of the node in its graph: idx of workflow_graph().';
comment on column qwf.run_nodes.job_id is 'Job that executes it.';
comment on column qwf.run_nodes.status is 'State of that job.';
comment on column qwf.run_nodes.attempt is 'Number of its last attempt; 0: none yet.';
comment on column qwf.run_nodes.progress is 'How far it is, from 0 to 1; null: it has not said.';
comment on column qwf.run_nodes.message is
  'The last message about its progress, cut to 200 characters; of a repeat, at which turn it is; '
  'of a map that had enough, how many elements it stopped; of a node that waits, when it starts or '
  'for which signal; of a question, that its default was taken.';
comment on column qwf.run_nodes.error is
  'Of its last error the line that says what is wrong, cut to 200 letters.';
comment on column qwf.run_nodes.worker is 'Worker that had it last.';
comment on column qwf.run_nodes.host is 'Box of that worker.';
comment on column qwf.run_nodes.started_at is 'When its last attempt was claimed.';
comment on column qwf.run_nodes.finished_at is 'When it ended.';
comment on column qwf.run_nodes.waits_since is 'Since when it waits for the answer of a person.';
comment on column qwf.run_nodes.child_run is
  'The run that it is, the last one; null: it runs no workflow, or runs it once for each element.';
comment on column qwf.run_nodes.elements is
  'Of a map, how many of its elements are in which state; null: it is no map, or has not been '
  'spread yet.';

-- When each node of a run waited and ran, as one row a node, however many elements a map has and
-- however often they were tried. One row a node. Reads the attempts of the run once, and those
-- of no other run. A run of 100,000 attempts takes less than a second.
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

-- The elements of maps, and how long each of them ran. One row an element. Reads its attempts
-- only if it had several.
create view qwf.element_overview as
select
  c.parent_id as map_id, c.element, c.id as job_id, c.run_id, c.node_id, c.status, c.attempt,
  coalesce(w.host, split_part(nullif(c.claimed_by, 'qwf.engine'), ':', 1)) as host,
  case when c.status = 'completed' and c.attempt = 1  -- its only attempt; most are such
    then extract(epoch from c.finished_at - c.claimed_at)
    else nullif(coalesce((
        select sum(extract(epoch from t.finished_at - t.started_at)) from qwf.job_attempts t
        where t.job_id = c.id), 0)
      + case when c.status = 'running' then extract(epoch from clock.now - c.claimed_at)
        else 0 end, 0)
  end::float8 as seconds,
  left(c.last_error, 2000) as error,
  case when starts_with(c.queue, 'qwf.') then (
    select r.id from qwf.runs r
    where r.parent_id = c.id order by r.id desc limit 1) end as child_run
from qwf.jobs c
cross join (select qwf.now() as now) clock
left join qwf.workers w on w.id = c.claimed_by
where c.parent_id is not null;
comment on view qwf.element_overview is
  'Elements of maps: select * from qwf.element_overview where map_id = 7 order by element.';
comment on column qwf.element_overview.map_id is 'Job id of the map.';
comment on column qwf.element_overview.element is 'Position in the list of the map, from 0.';
comment on column qwf.element_overview.job_id is 'Job id of the element.';
comment on column qwf.element_overview.run_id is 'Run of the map.';
comment on column qwf.element_overview.node_id is 'Node of the map, with the position.';
comment on column qwf.element_overview.status is 'State; see docs/concepts.md.';
comment on column qwf.element_overview.attempt is 'Claims so far.';
comment on column qwf.element_overview.host is 'Box of the last claim; null: none yet.';
comment on column qwf.element_overview.seconds is
  'Seconds that its attempts ran, the running one until now; null: none has run.';
comment on column qwf.element_overview.child_run is
  'The run that it is, the last one; null: it runs no workflow, or has not begun.';
comment on column qwf.element_overview.error is 'Error of its last attempt that had one, cut.';

-- How long the elements of maps ran: what is typical, which were the slowest, and how the times
-- are spread. One row a map. The time of an element is that of its body, added up over the
-- attempts that ended by themselves: no wait, no attempt that was lost, cancelled or released.
-- Reads the attempts of the map once.
create view qwf.map_times as
select
  m.id as map_id, m.run_id, m.node_id, t.elements, t.low, t.typical, t.high, t.seconds, t.slowest,
  t.slowest_seconds, t.bins
from qwf.jobs m
cross join lateral (
  with element as materialized (
    select
      c.id, sum(coalesce(_qwf.as_number(a.detail -> 'body_s')::float8,
        date_part('epoch', a.finished_at - a.started_at))) as seconds
    from (
      select c.id from qwf.jobs c
      where c.parent_id = m.id
      order by c.element limit coalesce(m.elements, 0)) c  -- so it is read by its index
    cross join lateral (  -- offset: else the planner may read the attempts of all maps
      select t.started_at, t.finished_at, t.detail from qwf.job_attempts t
      where t.job_id = c.id and t.outcome in ('completed', 'error', 'fatal', 'tempfail')
        and isfinite(t.started_at) and isfinite(t.finished_at)
      offset 0) a
    group by c.id
  ), whole as (
    select
      count(*) as elements, min(e.seconds) as low, max(e.seconds) as high,
      percentile_cont(0.5) within group (order by e.seconds) as typical, sum(e.seconds) as seconds
    from element e
  ), slowest as (
    select e.id, e.seconds from element e order by e.seconds desc, e.id limit 10
  ), bin as (
    select
      least(20, width_bucket(e.seconds, w.low, greatest(w.high, w.low + 1e-6), 20)) as bin,
      count(*)::int as count
    from whole w cross join element e
    group by 1
  )
  select
    w.*, array(select s.id from slowest s order by s.seconds desc, s.id) as slowest,
    array(select s.seconds from slowest s order by s.seconds desc, s.id) as slowest_seconds,
    array(
      select coalesce(b.count, 0)
      from generate_series(1, 20) g (bin) left join bin b on b.bin = g.bin
      order by g.bin) as bins
  from whole w
) t
where m.elements is not null and m.run_id is not null;
comment on view qwf.map_times is
  'How long the elements of maps ran: select * from qwf.map_times where run_id = 7.';
comment on column qwf.map_times.map_id is 'Job id of the map.';
comment on column qwf.map_times.run_id is 'Run of the map.';
comment on column qwf.map_times.node_id is 'Node of the map.';
comment on column qwf.map_times.elements is
  'Elements with an attempt that ended by itself. The other columns are about these.';
comment on column qwf.map_times.low is 'Seconds of the fastest; null: none has ended.';
comment on column qwf.map_times.typical is 'Seconds that half of them were shorter than.';
comment on column qwf.map_times.high is 'Seconds of the slowest.';
comment on column qwf.map_times.seconds is 'Seconds of all, added up.';
comment on column qwf.map_times.slowest is 'Job ids of the ten slowest, the slowest first.';
comment on column qwf.map_times.slowest_seconds is 'Their seconds.';
comment on column qwf.map_times.bins is
  'How many elements are in each of 20 equal parts of the time from low to high.';

-- The nodes that compensation nodes take back, and whether they have. One row for each node that
-- can be taken back, and each node that does it.
create view qwf.compensations as
select
  c.run_id, c.node_id, c.id as job_id, c.status, t.node_id as takes_back, t.id as takes_back_job,
  d.done and c.status = 'completed' as taken_back, d.done
from qwf.jobs c
join qwf.graph_nodes g on g.graph_id = c.graph_id and g.idx = c.node_idx
cross join lateral unnest(g.compensates) n (node_id)
join qwf.graph_nodes m on m.graph_id = c.graph_id and m.node_id = n.node_id
join qwf.jobs t on t.run_id = c.run_id and t.node_idx = m.idx
cross join lateral (select t.status = 'completed'
  or t.elements is not null and m.repeat is null and exists (
    select from qwf.jobs e where e.parent_id = t.id and e.status = 'completed') as done) d
where c.run_if = 'compensates';
comment on view qwf.compensations is
  'The nodes that compensation nodes take back: select * from qwf.compensations where run_id = 7.';
comment on column qwf.compensations.run_id is 'Run id.';
comment on column qwf.compensations.node_id is 'The compensation node.';
comment on column qwf.compensations.job_id is 'Job that executes it.';
comment on column qwf.compensations.status is
  'State of that job; skipped: the run goes on or completed, or there is nothing to take back.';
comment on column qwf.compensations.takes_back is 'The node that it takes back.';
comment on column qwf.compensations.takes_back_job is 'Job that executes that node.';
comment on column qwf.compensations.taken_back is
  'True: it has taken that node back, and a retry runs that node again.';
comment on column qwf.compensations.done is
  'True: that node has completed, or an element of it if it is a map. What is done and not taken '
  'back by any node stands.';
