-- Deploy qwf:functions/runs/_counter_changes
-- Purpose: Returns what events and opened nodes change in the counters of their runs.
-- Guarantees: The only table of what each kind of event counts; _apply_events repeats the row of
--   completed. An opened node was blocked, and counted neither as active nor as waiting. A map that
--   was expanded adds its elements.
-- Called by: _apply_events.

begin;

create function _qwf.counter_changes(p_events _qwf.event[], p_opened _qwf.opened[])
returns setof _qwf.node_count
language sql stable
as $$
  select e.run_id,
    (e.kind not in ('requeued', 'asked', 'ready', 'retried', 'stop'))::int,  -- the rest: terminal
    case
      when e.kind in ('completed', 'failed', 'cancelled', 'asked', 'ready') then -1  -- was active
      when e.kind = 'retried' then 1
      else 0
    end,
    case
      when e.kind in ('answered', 'passed', 'aborted', 'withdrawn', 'retried') then -1  -- was asked
      when e.kind = 'asked' then 1
      else 0
    end,
    case when e.kind = 'failed' then (
      select (j.on_failure = 'continue' and j.parent_id is null)::int
      from qwf.jobs j where j.id = e.job_id) else 0 end,
    case when e.kind = 'cancelled' then (  -- a queued node, such as an element, may never have run
      select j.attempt > 0 from qwf.jobs j where j.id = e.job_id)
      else e.kind not in ('ready', 'cut', 'stop') end
  from unnest(p_events) e
  union all
  select o.run_id,
    (o.status in ('completed', 'failed', 'skipped'))::int + coalesce((o.elements).closed, 0),
    (o.status in ('queued', 'scheduled'))::int + coalesce((o.elements).active, 0),
    (o.status = 'awaiting_input')::int + coalesce((o.elements).waiting, 0),
    case when o.status = 'failed' then (
      select (j.on_failure = 'continue' and j.parent_id is null)::int
      from qwf.jobs j where j.id = o.id) else 0 end,
    false
  from unnest(p_opened) o
$$;

commit;
