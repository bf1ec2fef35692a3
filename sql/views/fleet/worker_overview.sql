-- Deploy qwf:views/fleet/worker_overview
-- Purpose: Every worker of the last day, and those that have never deregistered: where it is, what
--   it does, what it can do, whether it is alive.
-- Guarantees: A dead worker counts as stopped as soon as a newer one of its host and queue has
--   registered, so that a restart ends the alarm about its predecessor, also when the newer one has
--   stopped since; and after a day. A filter by host or queue is applied before anything is
--   computed. Can be read on a standby.

begin;

create view qwf.worker_overview as
select
  w.id as worker, w.host, w.queue, w.pid, w.version, w.slots, r.running, w.current_model, w.vram_mb,
  w.project, w.rank,
  case
    when w.stopped_at is not null or not w.live and (w.replaced or w.last_seen <= w.yesterday)
      then 'stopped'
    when not w.live then 'dead'
    when o.host is not null and r.running > 0 then 'draining'
    when o.host is not null then 'off'
    when r.running > 0 then 'busy'
    else 'idle'
  end as state,
  o.reason, o.until, qwf.now() - w.last_seen as last_seen, w.started_at, w.out_root, w.live,
  case when w.live then coalesce(w.host || ':' || w.pid || ':' || w.twin, w.id) end as agent,
  o.stop_policy, o.login as stop_login,
  o.acting_for as stop_acting_for, w.stopped_at, r.lapses_at, w.tasks, w.models, w.labels,
  w.stats - 'servers' as stats
from (
  select n.*, s.yesterday, n.stopped_at is null and n.last_seen > s.since as live,
    max(n.started_at) over (partition by n.host, n.queue)
      > greatest(n.started_at, n.last_seen) as replaced,
    row_number() over (
      partition by n.host, n.queue, n.pid, n.stopped_at is null and n.last_seen > s.since
      order by n.started_at, n.id) as twin
  from qwf.workers n
  cross join (
    select t.now - g.worker_stale as since, t.now - interval '1 day' as yesterday
    from qwf.settings g cross join (select qwf.now() as now) t
  ) s
) w
left join qwf.switched_off o on o.host = w.host and o.queue = w.queue
left join lateral (
  select count(*) as running, max(j.lease_expires_at) as lapses_at
  from qwf.jobs j where j.claimed_by = w.id and j.status = 'running'
) r on true
where w.stopped_at is null or w.last_seen > w.yesterday
order by w.host, w.queue, w.started_at;
comment on view qwf.worker_overview is
  'Workers of the last day, and older ones that have never deregistered: '
  'select * from qwf.worker_overview where live.';
comment on column qwf.worker_overview.worker is 'Worker id.';
comment on column qwf.worker_overview.host is 'Box it runs on.';
comment on column qwf.worker_overview.queue is 'Queue it serves.';
comment on column qwf.worker_overview.pid is 'Process id of the agent.';
comment on column qwf.worker_overview.version is 'Version of the agent.';
comment on column qwf.worker_overview.slots is
  'Bodies it runs at once. The workers of one agent share them.';
comment on column qwf.worker_overview.running is 'Jobs it holds.';
comment on column qwf.worker_overview.current_model is 'Model it has loaded.';
comment on column qwf.worker_overview.vram_mb is 'Its GPU memory, MiB.';
comment on column qwf.worker_overview.project is
  'Project it works for, empty: jobs without one; null: all.';
comment on column qwf.worker_overview.rank is
  'Negative: an overflow worker, which takes the newest jobs.';
comment on column qwf.worker_overview.state is
  'idle, busy, draining (switched off, but still holds jobs), off, dead (no heartbeat) or stopped: '
  'deregistered, silent for a day, or dead and replaced by a newer worker of its host and queue, '
  'which may have stopped since.';
comment on column qwf.worker_overview.reason is 'Why it was switched off.';
comment on column qwf.worker_overview.until is
  'When it comes on by itself; null: never, or it is on.';
comment on column qwf.worker_overview.last_seen is 'Time since its last heartbeat.';
comment on column qwf.worker_overview.started_at is 'When it registered.';
comment on column qwf.worker_overview.out_root is
  'Folder on its box for the files of runs that name none, and of standalone jobs.';
comment on column qwf.worker_overview.live is 'True: neither dead nor stopped.';
comment on column qwf.worker_overview.agent is
  'Name for the process that it belongs to: the workers of one agent, one for each of its queues, '
  'share slots, models and servers. Null: not live.';
comment on column qwf.worker_overview.stop_policy is
  'The effect on its jobs while it is switched off: hard (killed), drain or pause; null: it is '
  'on.';
comment on column qwf.worker_overview.stop_login is 'Login that switched it off.';
comment on column qwf.worker_overview.stop_acting_for is
  'For whom that login said it acts; nobody checks it.';
comment on column qwf.worker_overview.stopped_at is 'When it deregistered; null: it has not.';
comment on column qwf.worker_overview.lapses_at is
  'When the last lease of its jobs lapses; null: it holds none.';
comment on column qwf.worker_overview.tasks is 'Tasks it can run; null: any.';
comment on column qwf.worker_overview.models is 'Models it can load; null: not announced.';
comment on column qwf.worker_overview.labels is
  'Labels that a job can require; host is one of them.';
comment on column qwf.worker_overview.stats is
  'Figures of its last heartbeat: slots, busy, models per GPU, loads, swaps avoided, '
  'out_free_bytes, code_problem. For its model servers see server_overview.';

commit;
