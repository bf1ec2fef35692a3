-- Deploy qwf:views/fleet/dead_workers
-- Purpose: Workers that are gone without having deregistered, and the jobs they still hold.

begin;

create view qwf.dead_workers as
select
  w.id as worker, w.host, w.queue, r.running,
  date_trunc('second', clock.now - w.last_seen) as silent,
  date_trunc('second', r.lapses_at) as lapses_at
from qwf.workers w
cross join qwf.settings s
cross join (select qwf.now() as now) clock
cross join lateral (
  select count(*) as running, max(j.lease_expires_at) as lapses_at
  from qwf.jobs j
  where j.claimed_by = w.id and j.status = 'running'
) r
where w.stopped_at is null and w.last_seen <= clock.now - s.worker_stale
order by w.last_seen desc;
comment on view qwf.dead_workers is
  'Workers without a heartbeat for longer than worker_stale; tick() takes their jobs back.';
comment on column qwf.dead_workers.worker is 'Worker id.';
comment on column qwf.dead_workers.host is 'Box it ran on.';
comment on column qwf.dead_workers.queue is 'Queue it served.';
comment on column qwf.dead_workers.running is 'Jobs it still holds, until their lease lapses.';
comment on column qwf.dead_workers.silent is 'Time since its last heartbeat.';
comment on column qwf.dead_workers.lapses_at is
  'When the last of those leases lapses; null: it holds nothing.';

commit;
