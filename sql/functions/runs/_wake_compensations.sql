-- Deploy qwf:functions/runs/_wake_compensations
-- Purpose: Wakes the compensation nodes of a run that begins to end badly: those of nodes that have
--   completed, or that may complete because their bodies still run or are about to; of a map its
--   elements count.
-- Guarantees: Returns what that changes in the counters of the run; null: there is nothing to take
--   back, or the end of the run was decided before, or it takes back before a retry. A node waits
--   for what follows from the nodes that it takes back: for each that has not ended, and for each
--   whose end is yet to be subtracted (an event in the outbox, or p_ended). If nothing is left to
--   wait for, a ready event opens it, which _cancel_obsolete takes along. _open_guarded looks again
--   at what has completed by then.
--   p_waits: the run waits in line, and nothing changes yet.
-- Locks: the caller has locked the run; sleeping compensation nodes, which nobody else locks.
-- Called by: _end_run.

begin;

create function _qwf.wake_compensations(p_run bigint, p_ended bigint[], p_waits boolean)
returns _qwf.node_count
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_woken bigint[];
  v_ready int;
begin
  if not exists (
    select from qwf.runs r join qwf.graphs g on g.id = r.graph_id
    where r.id = p_run and r.finished_at is null and r.ending is null and r.then_retry is null
      and g.compensation_count > 0)
  then
    return null;  -- the usual case
  end if;
  v_woken := array(
    select j.id
    from qwf.runs r
    join qwf.graph_nodes n on n.graph_id = r.graph_id
    join qwf.jobs j on j.run_id = r.id and j.node_idx = n.idx
    where r.id = p_run and n.compensates is not null and j.status = 'skipped' and exists (
        select from qwf.graph_nodes t
        join qwf.jobs d on d.run_id = r.id and d.node_idx = t.idx
        where t.graph_id = r.graph_id and t.node_id = any (n.compensates)
          and (d.status not in ('blocked', 'skipped', 'failed', 'cancelled')
            or d.elements is not null and t.repeat is null and exists (  -- a map
              select from qwf.jobs e
              where e.parent_id = d.id
                and e.status not in ('blocked', 'skipped', 'failed', 'cancelled')))));
  if v_woken = '{}' then
    return null;
  elsif p_waits then
    return (p_run, 0, 0, 0, 0, false)::_qwf.node_count;
  end if;
  update qwf.jobs j set status = 'blocked', finished_at = null where j.id = any (v_woken);
  with waiting as (
    update qwf.jobs j set remaining_deps = (
      select count(*)
      from qwf.graph_edges e join qwf.jobs d on d.run_id = p_run and d.node_idx = e.from_idx
      where e.graph_id = j.graph_id and e.to_idx = j.node_idx
        and (d.finished_at is null or d.elements is not null and d.remaining_deps > 0
          or d.id = any (p_ended) or exists (
            select from qwf.outbox o
            where o.run_id = p_run and o.job_id = d.id and o.poisoned_at is null
              and o.kind in ('completed', 'failed', 'cancelled'))))
    where j.id = any (v_woken)
    returning j.id, j.remaining_deps
  ), ready as (
    insert into qwf.outbox (run_id, job_id, kind)
    select p_run, w.id, 'ready' from waiting w where w.remaining_deps = 0
    returning 1
  )
  select count(*) into v_ready from ready;
  return (p_run, - cardinality(v_woken), v_ready, 0, 0, false)::_qwf.node_count;
end $$;

commit;
