-- Invariants of runs, graphs, schedules, events and alerts.

-- Returns violated invariants of runs and their nodes, from one snapshot. Counters lag behind
-- their nodes by exactly the events that wait in the outbox, and this is what it checks.
create function _qwf.run_invariants() returns table (invariant text, subject text, detail text)
language sql stable
as $$
  with event as (
    select
      o.run_id,
      count(*) filter (where o.kind in ('completed', 'failed', 'cancelled')) as ended,
      count(*) filter (where o.kind = 'asked') as asked,
      count(*) filter (where o.kind = 'ready') as ready,
      count(*) as pending
    from qwf.outbox o
    where o.poisoned_at is null
    group by o.run_id
  ), node as (
    select j.run_id, count(*) filter (where j.parent_id is null) as nodes,
      count(*) filter (where j.finished_at is null) as open,
      count(*) filter (where j.status in ('scheduled', 'queued', 'running')) as active,
      count(*) filter (where j.status = 'awaiting_input') as waiting,
      count(*) filter (where j.finished_at is null and j.status <> 'running') as stoppable
    from qwf.jobs j
    where j.run_id is not null
    group by j.run_id
  ), run as (
    select
      r.*, coalesce(n.nodes, 0) as nodes, coalesce(n.open, 0) as open,
      coalesce(n.active, 0) as active, coalesce(n.waiting, 0) as waiting,
      coalesce(n.stoppable, 0) as stoppable, coalesce(e.ended, 0) as ended,
      coalesce(e.asked, 0) as asked,
      coalesce(e.ready, 0) as ready, coalesce(e.pending, 0) as pending,
      coalesce(p.run_id is null and p.status in ('queued', 'scheduled'), false) as in_line
    from qwf.runs r left join node n on n.run_id = r.id left join event e on e.run_id = r.id
    left join qwf.jobs p on p.id = r.parent_id
  ), violation as (
    select 'a run has all nodes of its graph' as invariant, r.id,
      format('%s of %s', r.nodes, r.node_count) as detail
    from run r where r.nodes <> r.node_count  -- of a run that never left the line: none
      and (r.nodes > 0 or num_nulls(r.parent_id, r.parent_attempt) <> 1)
    union all
    select 'open_nodes counts nodes that are not terminal', r.id,
      format('%s, counted %s + %s', r.open_nodes, r.open, r.ended)
    from run r where r.finished_at is null and r.open_nodes <> r.open + r.ended
    union all
    select 'active_nodes counts nodes that can go on', r.id,
      format('%s, counted %s + %s', r.active_nodes, r.active, r.ended + r.ready + r.asked)
    from run r where r.finished_at is null
      and r.active_nodes <> r.active + r.ended + r.ready + r.asked
    union all
    select 'waiting_nodes counts nodes that ask', r.id,
      format('%s, counted %s - %s', r.waiting_nodes, r.waiting, r.asked)
    from run r where r.finished_at is null and r.waiting_nodes <> r.waiting - r.asked
    union all
    select 'a live run can go on', r.id, format('%s open, none active, waiting or pending', r.open)
    from run r where r.active + r.waiting + r.pending = 0 and r.finished_at is null and not in_line
    union all
    select 'awaiting_input means that only people can go on', r.id, r.status::text
    from run r where r.finished_at is null
      and (r.status = 'awaiting_input') <> (r.active_nodes = 0 and r.waiting_nodes > 0)
    union all
    select 'only a live run takes back before a retry', r.id, r.status::text
    from run r where r.finished_at is not null and r.then_retry is not null
    union all
    select 'a run that is over has no waiting nodes', r.id, format('%s nodes', r.stoppable)
    from run r where r.finished_at is not null and r.stoppable > 0 and r.pending = 0
  )
  select v.invariant, 'run ' || v.id, v.detail from violation v
$$;

-- Returns violated invariants of runs that are steps of other runs or wait in line, from one
-- snapshot. A run that is over is reported in the transaction that ends it, so its job and it
-- disagree only while an event waits that says so.
create function _qwf.child_invariants() returns table (invariant text, subject text, detail text)
language sql stable
as $$
  select 'a job that the engine runs has one live run', 'job ' || j.id,
    format('%s live', count(r.id))
  from qwf.jobs j
  left join qwf.runs r
    on r.parent_id = j.id and r.parent_attempt = j.attempt and r.finished_at is null
  where j.queue = 'qwf.runs' and j.status = 'running'
    and not exists (
      select from qwf.runs c join qwf.outbox o on o.run_id = c.id and o.poisoned_at is null
      where c.parent_id = j.id and c.finished_at is not null)
  group by j.id
  having count(r.id) <> 1
  union all
  select 'a live run of a job is its present attempt, or waits in line', 'run ' || r.id,
    format('serves attempt %s of job %s, which is %s in attempt %s',
      r.parent_attempt, r.parent_id, j.status, j.attempt)
  from qwf.runs r left join qwf.jobs j on j.id = r.parent_id
  where r.parent_id is not null and r.finished_at is null
    and not coalesce(j.status = 'running' and j.attempt = r.parent_attempt
      or j.run_id is null and j.status in ('queued', 'scheduled') and r.status = 'queued', false)
  union all
  select 'runs are nested at most 8 deep', 'run ' || r.id, r.depth::text
  from qwf.runs r where r.depth > 8
  union all
  select 'a run is one level below the run above it', 'run ' || r.id,
    format('%s below %s', r.depth, a.depth)
  from qwf.runs r join qwf.jobs j on j.id = r.parent_id join qwf.runs a on a.id = j.run_id
  where r.depth <> a.depth + 1
$$;

-- Returns runs whose nodes are not those of the graph that they execute (a retry may have moved
-- them to another one), compensation nodes that should sleep, and repeats whose turns do not
-- follow one another, from one snapshot.
create function _qwf.graph_invariants() returns table (invariant text, subject text, detail text)
language sql stable
as $$
  select 'the nodes of a run are those of its graph', 'job ' || j.id,
    format('%s at place %s of graph %s, run %s has graph %s and there %s',
      j.node_id, j.node_idx, j.graph_id, r.id, r.graph_id, coalesce(n.node_id, 'nothing'))
  from qwf.jobs j
  join qwf.runs r on r.id = j.run_id
  left join qwf.graph_nodes n on n.graph_id = r.graph_id and n.idx = j.node_idx
  where j.graph_id <> r.graph_id
    or j.node_idx is not null and j.node_id is distinct from n.node_id
  union all
  select 'a compensation node is skipped unless its run ends or ended badly', 'job ' || j.id,
    format('%s of run %s, %s, is %s', j.node_id, r.id, r.status, j.status)
  from qwf.jobs j join qwf.runs r on r.id = j.run_id
  where j.run_if = 'compensates' and j.status <> 'skipped'
    and r.ending is null and r.then_retry is null and r.status not in ('failed', 'cancelled')
    and not (r.status = 'queued' and r.open_nodes = 0)  -- it waits in line for its next try
  union all
  select 'an element is one of its map', 'job ' || e.id,
    format('%s of run %s, its map is %s of run %s', e.node_id, e.run_id, m.node_id, m.run_id)
  from qwf.jobs e left join qwf.jobs m on m.id = e.parent_id
  where e.parent_id is not null and e.run_id is not null
    and (m.run_id is distinct from e.run_id
      or e.node_id is distinct from format('%s[%s]', m.node_id, e.element))
  union all
  select 'the turns of a repeat follow one another, and only the last may not be over',
    'job ' || m.id, format('%s of run %s counts %s turns, there are %s up to %s, %s not over',
      m.node_id, m.run_id, m.elements, t.turns, t.last + 1, t.live)
  from qwf.jobs m
  join qwf.graph_nodes n on n.graph_id = m.graph_id and n.idx = m.node_idx
  cross join lateral (
    select count(*) as turns, max(e.element) as last,
      count(*) filter (where e.finished_at is null) as live,
      coalesce(bool_or(e.finished_at is null and e.element < m.elements - 1), false) as early
    from qwf.jobs e
    where e.parent_id = m.id) t
  where n.repeat is not null and m.elements is not null
    and (t.turns <> m.elements or t.last + 1 <> m.elements or t.early)
  union all
  select 'a run has as many nodes as its graph', 'run ' || r.id,
    format('%s, graph %s has %s', r.node_count, g.id, g.node_count)
  from qwf.runs r join qwf.graphs g on g.id = r.graph_id
  where r.node_count <> g.node_count
$$;

-- Returns violated invariants of schedules and their firings. The job of an open firing may be
-- gone if its queue drops completed jobs, until the next tick. What a person has retried does
-- not count for the bound of a backfill.
create function _qwf.schedule_invariants() returns table (invariant text, subject text, detail text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    select 'a backfill has at most at_once firings open', 'schedule ' || s.name,
      format('%s open, at_once %s', f.open, s.at_once)
    from qwf.schedules s
    cross join lateral (
      select count(*) as open from qwf.firings f
      where f.schedule = s.name and f.outcome = 'fired' and f.result is null and not f.reopened
        and (_qwf.firing_end(f)).result is null) f
    where s.at_once < f.open;
  return query
    select 'the job or run of an open firing exists', 'firing ' || f.id,
      format('schedule %s, job %s, run %s', f.schedule, coalesce(f.job_id::text, 'none'),
        coalesce(f.run_id::text, 'none'))
    from qwf.firings f
    where f.outcome = 'fired' and f.result is null and (_qwf.firing_end(f)).result = 'unknown';
  return query
    select 'a time is worked on once', 'schedule ' || t.schedule,
      format('%s firings are open for %s', t.open, t.due_at)
    from (
      select coalesce(f.backfill_of, f.schedule) as schedule, f.due_at, count(*) as open
      from qwf.firings f
      where f.outcome = 'fired' and f.result is null and not f.reopened
        and (_qwf.firing_end(f)).result is null
      group by 1, 2) t
    where t.open > 1 and t.due_at is not null;
  return query
    select 'a backfill ends before its end', 'schedule ' || s.name,
      format('next at %s, ends at %s', coalesce(s.next_at, s.resume_at), s.ends_at)
    from qwf.schedules s
    where coalesce(s.next_at, s.resume_at) >= s.ends_at;
end $$;

-- Returns violated invariants of the numbers of events.
create function _qwf.event_invariants() returns table (invariant text, subject text, detail text)
language sql stable
as $$
  with numbered as (
    select e.seq, e.kind, lag(e.seq, 1, n.first_seq - 1) over (order by e.seq) as before
    from _qwf.event_log e cross join _qwf.event_numbers n
    where e.seq is not null
  ), ends as (
    select n.last_seq, n.first_seq, coalesce(max(e.seq), n.first_seq - 1) as last
    from _qwf.event_numbers n left join _qwf.event_log e on e.seq is not null
    group by n.last_seq, n.first_seq
  )
  select 'events are numbered without a gap', 'event ' || n.seq,
    format('the one before it that is kept is %s', n.before)
  from numbered n
  where n.seq <> n.before + 1
    and not (n.kind = 'events_restarted' and n.seq = n.before + 1000000)
  union all
  select 'the last event has the last number', 'event ' || e.last, format('%s', e.last_seq)
  from ends e where e.last <> e.last_seq
$$;

-- Returns violated invariants of alerts and their messages.
create function _qwf.alert_invariants() returns table (invariant text, subject text, detail text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select 'an open alert has its rule', 'alert ' || o.id, o.rule
  from qwf.open_alerts o
  where o.closed_at is null and not exists (select from qwf.alerts a where a.name = o.rule)
  union all
  select 'nothing is due of a closed alert', 'alert ' || o.id,
    format('message due %s, closes %s', o.send_at, o.close_at)
  from qwf.open_alerts o where o.closed_at is not null and o.due_at is not null
  union all
  select 'an open alert has counted an event', 'alert ' || o.id, format('%s events', o.events)
  from qwf.open_alerts o where o.opened_at is not null and o.closed_at is null and o.events < 1
  union all
  select 'an alert counts events that have a number', 'alert ' || o.id,
    format('%s to %s of %s', o.first_seq, o.last_seq, n.last_seq)
  from qwf.open_alerts o cross join _qwf.event_numbers n
  where o.last_seq not between o.first_seq and n.last_seq
  union all
  select 'an alert keeps times only until it opens', 'alert ' || o.id, format('%s', o.recent)
  from qwf.open_alerts o
  where o.recent <> '{}' and (o.opened_at is not null or o.closed_at is not null)
  union all
  select 'a rule sends at most 20 messages in an hour', 'rule ' || a.name,
    format('%s messages', a.hour_messages)
  from qwf.alerts a where a.hour_messages > 20
  union all
  select 'an alert that only counts will close', 'alert ' || o.id, format('%s events', o.events)
  from qwf.open_alerts o where num_nonnulls(o.opened_at, o.closed_at, o.close_at) = 0
  union all
  select 'an open alert has told somebody or will', 'alert ' || o.id,
    format('opened at %s, last message %s', o.opened_at, o.sent_at)
  from qwf.open_alerts o
  where o.opened_at is not null and o.closed_at is null and o.send_at is null
    and (o.sent_at >= o.opened_at) is not true
  union all
  select 'what waits to be told is open, and was not told', 'alert ' || o.id,
    format('waits since %s, sent at %s, closed at %s', o.waits_since, o.sent_at, o.closed_at)
  from qwf.open_alerts o
  where o.waits_since is not null
    and (o.closed_at is not null or o.send_at is null or o.sent_at >= o.opened_at)
  union all
  select 'no message has counted more events than there are', 'alert ' || o.id,
    format('%s of %s', o.told, o.events)
  from qwf.open_alerts o where o.told > o.events
  union all
  select 'an alert has as many messages as it says', 'alert ' || o.id,
    format('%s messages, %s found', o.messages, count(m.id))
  from qwf.open_alerts o join qwf.alert_messages m on m.alert_id = o.id
  group by o.id
  having count(m.id) > o.messages
  union all
  select 'a message has a job or a run', 'message ' || m.id, m.state
  from qwf.alert_messages m where num_nonnulls(m.sent_job, m.sent_run) <> 1
$$;

-- Returns violated invariants of late work, of what is usual, and of totals of events. What is
-- marked as late or wrong was told by an event, and the other way round. Events that may have
-- been pruned prove nothing.
create function _qwf.late_invariants() returns table (invariant text, subject text, detail text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with kept as (
    select greatest(qwf.now() - s.events_keep, (select min(e.at) from _qwf.event_log e)) as since
    from qwf.settings s
  )
  select 'a run that is marked as late was told', 'run ' || r.id, format('late at %s', r.late_at)
  from qwf.runs r cross join kept k
  where r.late_at > k.since and not exists (
    select from _qwf.event_log e
    where e.run_id = r.id and e.kind = 'run_late' and e.at = r.late_at)
  union all
  select 'a run that was told to be late is marked', 'run ' || r.id, format('told at %s', l.at)
  from _qwf.event_log l join qwf.runs r on r.id = l.run_id
  where l.kind = 'run_late' and r.late_at is null and not exists (
    select from _qwf.event_log e
    where e.run_id = l.run_id and e.id > l.id and e.kind in ('run_ended', 'retried'))
  union all
  select 'a trouble that is open was told', o.kind || ' ' || o.subject, format('since %s', o.since)
  from _qwf.open_states o cross join kept k
  where o.kind in ('worker_dead', 'schedule_late', 'queue_waits', 'overdue',
    'cannot_run_anywhere') and o.since > k.since
    and not exists (select from _qwf.event_log e where e.kind = o.kind and e.at = o.since)
  union all
  select 'what is usual counts its times', concat_ws(' ', u.kind, u.name, u.node),
    format('%s, has %s', u.runs, c.count)
  from qwf.usual_times u
  cross join lateral (select coalesce(sum(t), 0) as count from unnest(u.recent || u.older) t) c
  where u.runs <> c.count
  union all
  select 'no more ends of runs are counted than there were',
    format('%s runs of %s', t.status, t.workflow),
    format('%s, below the edges %s', t.count, t.edges)
  from _qwf.run_totals t
  where cardinality(t.edges) <> 17 or t.edges[17] > t.count
  union all
  select 'no event is counted twice', 'event ' || g.learned_seq, format('%s are counted', t.count)
  from _qwf.judged g cross join (select sum(x.count) as count from _qwf.event_totals x) t
  where t.count > g.learned_seq
  union all
  select 'only events with a number are learned', 'event ' || g.learned_seq,
    format('the last number is %s', n.last_seq)
  from _qwf.judged g cross join _qwf.event_numbers n where g.learned_seq > n.last_seq
$$;
