-- Deploy qwf:functions/_changes
-- requires: schema/types
-- requires: schema/jobs
-- Purpose: What events, and nodes that were opened, change in the counters of their runs.
-- Guarantees: The one table of what each kind of event counts. A node that is opened was blocked,
--   and counted neither as active nor as waiting.
-- Called by: _apply.

begin;

create function qwf._changes(p_events qwf.event[], p_opened qwf.opened[])
returns setof qwf.node_count
language sql stable
as $$
  select e.run_id, k.closed, k.active, k.waiting,
    case when e.kind = 'failed' then (
      select (j.on_failure = 'continue' and j.parent_id is null)::int
      from qwf.jobs j where j.id = e.job_id) else 0 end,
    case when e.kind = 'cancelled' then (  -- what was queued, an element say, may never have run
      select j.attempt > 0 from qwf.jobs j where j.id = e.job_id)
      else e.kind not in ('ready', 'cut', 'stop') end
  from unnest(p_events) e
  join (values
    ('completed', 1, -1, 0), ('failed', 1, -1, 0), ('cancelled', 1, -1, 0),  -- was active
    ('requeued', 0, 0, 0), ('asked', 0, -1, 1), ('ready', 0, -1, 0),
    ('answered', 1, 0, -1), ('passed', 1, 0, -1), ('aborted', 1, 0, -1),  -- waited for a person
    ('withdrawn', 1, 0, -1), ('retried', 0, 1, -1),
    ('cut', 1, 0, 0),  -- was blocked
    ('stop', 0, 0, 0)
  ) k (kind, closed, active, waiting) on k.kind = e.kind
  union all
  select o.run_id, (o.status in ('completed', 'failed', 'skipped'))::int,
    (o.status = 'queued')::int, (o.status = 'awaiting_input')::int,
    case when o.status = 'failed' then (
      select (j.on_failure = 'continue' and j.parent_id is null)::int
      from qwf.jobs j where j.id = o.id) else 0 end,
    false
  from unnest(p_opened) o
$$;
comment on function qwf._changes(qwf.event[], qwf.opened[]) is
  'Changes of the counters of runs that follow from events and from opened nodes.';
revoke all on function qwf._changes(qwf.event[], qwf.opened[]) from public;

commit;
