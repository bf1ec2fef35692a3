-- Deploy qwf:functions/runs/_open_dependants
-- Purpose: Subtracts satisfied dependencies and queues the nodes that have none left.
-- Guarantees: Reads only the edges that leave the ended nodes. A guarded node without open
--   dependencies stays blocked and is returned for _open_guarded. If a node failed without
--   on_failure continue, all nodes still blocked are clean-up nodes: for those every end counts.
-- Locks: blocked jobs of runs the caller has locked.
-- Notifies: sleepers of the queues that got work.
-- Called by: _apply_events.

begin;

create function _qwf.open_dependants(p_jobs bigint[]) returns setof _qwf.opened
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_material = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_opened _qwf.opened[];
begin
  with satisfied as materialized (
    select j.run_id, j.graph_id, j.node_idx
    from (select distinct u.id from unnest(p_jobs) u (id)) d
    join qwf.jobs j on j.id = d.id
    where (select r.finished_at from qwf.runs r where r.id = j.run_id) is null
      -- a map that ended early counts when its last element has ended: _settle_maps returns it,
      -- after this, and it counts in the next round
      and (j.elements is null or j.remaining_deps = 0)
  ), dependant as materialized (
    select s.run_id, e.to_idx, count(*)::int as satisfied
    from satisfied s join qwf.graph_edges e on e.graph_id = s.graph_id and e.from_idx = s.node_idx
    group by s.run_id, e.to_idx
    order by s.run_id, e.to_idx
  ), counted as (
    update qwf.jobs j set
      remaining_deps = j.remaining_deps - d.satisfied,
      status = case
        when j.remaining_deps = d.satisfied and not j.guarded then 'queued' else j.status end,
      position = case
        when j.remaining_deps = d.satisfied and not j.guarded then _qwf.next_position() end,
      queued_at = case when j.remaining_deps = d.satisfied and not j.guarded then v_now end
    from dependant d
    cross join lateral (  -- offset 0 forces the index; nothing else changes a blocked row
      select b.ctid as row from qwf.jobs b
      where b.run_id = d.run_id and b.node_idx = d.to_idx and b.status = 'blocked' offset 0) b
    where j.ctid = b.row
    returning j.id, j.run_id, j.status, j.remaining_deps, j.queue
  ), woken as (
    select _qwf.wake(c.queue, count(*)::int) from counted c
    where c.status = 'queued'
    group by c.queue
  )
  select array_agg((c.id, c.run_id, c.status, null)::_qwf.opened) into v_opened
  from counted c
  where c.remaining_deps = 0
    and (select count(*) from woken) >= 0;  -- a CTE that is not read does not run
  return query select * from unnest(v_opened);
end $$;

commit;
