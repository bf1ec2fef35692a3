-- Deploy qwf:views/dead_workers
-- requires: schema/workers
-- requires: schema/jobs
-- requires: schema/settings
-- requires: functions/now
-- Purpose: Workers that went without saying goodbye, with what they still hold.

begin;

create view qwf.dead_workers as
select w.id as worker, w.host, w.queue, qwf.now() - w.last_seen as silent, r.running
from qwf.workers w
cross join qwf.settings s
cross join lateral (
  select count(*) as running from qwf.jobs j where j.claimed_by = w.id and j.status = 'running'
) r
where w.stopped_at is null and w.last_seen <= qwf.now() - s.worker_stale
order by w.last_seen desc;
comment on view qwf.dead_workers is
  'Workers without a heartbeat for longer than worker_stale; reclaim() takes back what they hold.';
comment on column qwf.dead_workers.worker is 'Worker id.';
comment on column qwf.dead_workers.host is 'Box it ran on.';
comment on column qwf.dead_workers.queue is 'Queue it served.';
comment on column qwf.dead_workers.silent is 'Time since its last heartbeat.';
comment on column qwf.dead_workers.running is 'Jobs it still holds, until their lease lapses.';

commit;
