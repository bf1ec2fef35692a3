-- Workers, hosts switched off, sleepers, and orders for boxes.

-- Hosts that are switched off now. Only this view decides when that ends.
create view qwf.switched_off as
select c.host_label as host, c.queue, c.stop_policy, c.login,
  c.requested_by as acting_for, c.reason, c.until
from qwf.worker_controls c
where c.desired_state = 'off' and (c.until is null or c.until > qwf.now());
comment on view qwf.switched_off is
  'Hosts that do not serve a queue at the moment: select * from qwf.switched_off.';
comment on column qwf.switched_off.host is 'Box that is off.';
comment on column qwf.switched_off.queue is 'Queue it does not serve.';
comment on column qwf.switched_off.stop_policy is
  'The effect on the jobs it runs: hard (killed), drain or pause.';
comment on column qwf.switched_off.login is 'Login that switched it off.';
comment on column qwf.switched_off.acting_for is
  'For whom that login said it acts; nobody checks it.';
comment on column qwf.switched_off.reason is 'Why; null: no reason given.';
comment on column qwf.switched_off.until is 'When it comes on by itself; null: never.';

-- Every worker of the last day, and those that have never deregistered: where it is, what it
-- does, what it can do, whether it is alive. A dead worker counts as stopped as soon as a newer
-- one of its host and queue has registered, so that a restart ends the alarm about its
-- predecessor, also when the newer one has stopped since; and after a day. A filter by host or
-- queue is applied before anything is computed. Can be read on a standby.
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

-- Workers that sleep until a job comes. Reads an unlogged table, so a standby cannot answer.
create view qwf.sleeping_workers as
select s.worker, w.host, s.queue, s.since, qwf.now() - s.since as asleep
from qwf.sleepers s
left join qwf.workers w on w.id = s.worker
where s.since > qwf.now() - interval '15 s';
comment on view qwf.sleeping_workers is
  'Workers that have found their queue empty and sleep: select * from qwf.sleeping_workers.';
comment on column qwf.sleeping_workers.worker is 'Worker id.';
comment on column qwf.sleeping_workers.host is 'Box it runs on; null: it is not registered.';
comment on column qwf.sleeping_workers.queue is 'Queue it found empty.';
comment on column qwf.sleeping_workers.since is
  'When it last said that it sleeps; one that sleeps says so every few seconds.';
comment on column qwf.sleeping_workers.asleep is 'How long ago that was.';

-- The orders for boxes: who is switched off or on, and which model servers serve.
create view qwf.order_overview as
select
  c.host_label as host, c.queue, c.desired_state as state, c.stop_policy as policy,
  c.login, c.requested_by as acting_for, c.reason, c.until, c.server, c.parallel, c.server_idle,
  c.created_at, c.updated_at
from qwf.worker_controls c;
comment on view qwf.order_overview is
  'Orders for boxes, also those that are over: select * from qwf.order_overview. Those in force '
  'that switch a box off are in qwf.switched_off. They stay until qwf.forget_host(host).';
comment on column qwf.order_overview.host is 'The box.';
comment on column qwf.order_overview.queue is 'The queue.';
comment on column qwf.order_overview.state is 'on or off, as ordered.';
comment on column qwf.order_overview.policy is 'How it stops: hard, drain or pause.';
comment on column qwf.order_overview.login is 'Login that gave the order.';
comment on column qwf.order_overview.acting_for is
  'For whom that login said it acts; nobody checks it.';
comment on column qwf.order_overview.reason is 'Why; null: no reason given.';
comment on column qwf.order_overview.until is 'When off turns into on by itself; null: never.';
comment on column qwf.order_overview.server is
  'The only model server of the box that serves the queue; null: all that the agent has.';
comment on column qwf.order_overview.parallel is
  'How many requests such a server takes at once; null: as the agent is configured.';
comment on column qwf.order_overview.server_idle is
  'How long a server may be idle before it is stopped, 0: never; null: as the agent is configured.';
comment on column qwf.order_overview.created_at is 'When the box and queue got their first order.';
comment on column qwf.order_overview.updated_at is 'When the order was last changed.';
