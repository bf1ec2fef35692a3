-- Deploy qwf:views/fleet/fleet
-- Purpose: Every worker of the last day: where it is, what it does, whether it is alive.
-- Guarantees: A dead worker counts as stopped as soon as a newer one of its host and queue has
--   registered, so that a restart ends the alarm about its predecessor, also when the newer one has
--   stopped since.

begin;

create view qwf.fleet as
select
  w.id as worker, w.host, w.queue, w.pid, w.version, w.slots, r.running, w.current_model, w.vram_mb,
  w.project, w.rank,
  case
    when w.stopped_at is not null then 'stopped'
    when w.last_seen <= live.since and w.replaced then 'stopped'
    when w.last_seen <= live.since then 'dead'
    when o.host is not null and r.running > 0 then 'draining'
    when o.host is not null then 'off'
    when r.running > 0 then 'busy'
    else 'idle'
  end as state,
  o.reason, o.until, qwf.now() - w.last_seen as last_seen, w.started_at, w.out_root
from (
  select n.*, max(n.started_at) over (partition by n.host, n.queue)
    > greatest(n.started_at, n.last_seen) as replaced
  from qwf.workers n
) w
cross join (select qwf.now() - s.worker_stale as since from qwf.settings s) live
left join qwf.switched_off o on o.host = w.host and o.queue = w.queue
cross join lateral (
  select count(*) as running from qwf.jobs j where j.claimed_by = w.id and j.status = 'running'
) r
where w.last_seen > qwf.now() - interval '1 day'
order by w.host, w.queue, w.started_at;
comment on view qwf.fleet is
  'Workers seen within the last day: select * from qwf.fleet.';
comment on column qwf.fleet.worker is 'Worker id.';
comment on column qwf.fleet.host is 'Box it runs on.';
comment on column qwf.fleet.queue is 'Queue it serves.';
comment on column qwf.fleet.pid is 'Process id of the agent.';
comment on column qwf.fleet.version is 'Version of the agent.';
comment on column qwf.fleet.slots is 'Bodies it runs at once.';
comment on column qwf.fleet.running is 'Jobs it holds.';
comment on column qwf.fleet.current_model is 'Model it has loaded.';
comment on column qwf.fleet.vram_mb is 'Its GPU memory, MiB.';
comment on column qwf.fleet.project is 'Project it works for; null: all.';
comment on column qwf.fleet.rank is 'Negative: an overflow worker, which takes the newest jobs.';
comment on column qwf.fleet.state is
  'idle, busy, draining (switched off, but still holds jobs), off, dead (no heartbeat) or stopped: '
  'deregistered, or dead and replaced by a newer worker of its host and queue, which may have '
  'stopped since.';
comment on column qwf.fleet.reason is 'Why it was switched off.';
comment on column qwf.fleet.until is 'When it comes on by itself; null: never, or it is on.';
comment on column qwf.fleet.last_seen is 'Time since its last heartbeat.';
comment on column qwf.fleet.started_at is 'When it registered.';
comment on column qwf.fleet.out_root is
  'Folder on its box for the files of runs that name none, and of standalone jobs.';

commit;
