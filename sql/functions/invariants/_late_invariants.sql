-- Deploy qwf:functions/invariants/_late_invariants
-- Purpose: Returns violated invariants of late work, of what is usual, and of totals of events.
-- Guarantees: What is marked as late or wrong was told by an event, and the other way round. Events
--   that may have been pruned prove nothing.
-- Called by: check_invariants.

begin;

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

commit;
