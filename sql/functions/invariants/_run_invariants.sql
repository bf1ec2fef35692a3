-- Deploy qwf:functions/invariants/_run_invariants
-- Purpose: Returns violated invariants of runs and their nodes, from one snapshot.
-- Guarantees: Counters lag behind their nodes by exactly the events that wait in the outbox, and
--   this is what it checks.
-- Called by: check_invariants.

begin;

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

commit;
