-- Deploy qwf:functions/runs/_sort_events
-- Purpose: Sorts events and opened nodes by what follows: nodes that have ended, have failed or are
--   ready, and runs in which nodes have to stop.
-- Guarantees: A node that goes back to the queue of a run that is over or ending has to stop, and
--   so have the elements that are left of a map that completed early.
-- Called by: _apply_events.

begin;

create function _qwf.sort_events(p_events _qwf.event[], p_opened _qwf.opened[])
returns _qwf.sorted_events
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_sorted _qwf.sorted_events;
begin
  select
    array_agg(n.id) filter (where n.ended or n.failed),
    array_agg(n.id) filter (where n.failed),
    array_agg(n.id) filter (where n.ready),
    array_agg(distinct n.run_id) filter (where n.stop)
    into v_sorted
  from (
    select e.job_id, e.run_id, e.kind in ('completed', 'answered', 'passed'),
      e.kind in ('failed', 'cancelled', 'aborted', 'withdrawn', 'cut'), e.kind = 'ready',
      e.kind = 'stop' or (e.kind in ('requeued', 'asked', 'ready', 'retried') and (
        select _qwf.is_obsolete(j.run_id, j.run_if, j.parent_id)
        from qwf.jobs j where j.id = e.job_id))
    from unnest(p_events) e
    union all
    select o.id, o.run_id, o.status in ('completed', 'skipped', 'cancelled'),
      o.status = 'failed', false, o.status = 'completed' and (
        select m.remaining_deps > 0 from qwf.jobs m where m.id = o.id)
    from unnest(p_opened) o
  ) n (id, run_id, ended, failed, ready, stop);
  return v_sorted;
end $$;

commit;
