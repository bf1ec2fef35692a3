-- Deploy qwf:views/queues/slot_overview
-- Purpose: The slots of limits, and the jobs that hold them.

begin;

create view qwf.slot_overview as
select
  s.limit_name, l.max_running, s.slot, s.job_id, j.run_id, j.node_id, j.task, j.claimed_at,
  j.claimed_by as worker, coalesce(w.host, split_part(j.claimed_by, ':', 1)) as host
from qwf.limit_slots s
left join qwf.limits l on l.name = s.limit_name
left join qwf.jobs j on j.id = s.job_id
left join qwf.workers w on w.id = j.claimed_by;
comment on view qwf.slot_overview is
  'Slots of limits, and who holds them: select * from qwf.slot_overview where limit_name = '
  '''mail''.';
comment on column qwf.slot_overview.limit_name is 'The limit; queue:NAME is that of a queue.';
comment on column qwf.slot_overview.max_running is
  'How many jobs may run at once; null: the limit was dropped.';
comment on column qwf.slot_overview.slot is
  'Number from 1; one above max_running is left over from a larger limit and not handed out.';
comment on column qwf.slot_overview.job_id is 'Job that holds it; null: free.';
comment on column qwf.slot_overview.run_id is 'Run of that job; null: standalone.';
comment on column qwf.slot_overview.node_id is 'Node of that job.';
comment on column qwf.slot_overview.task is 'Task of that job.';
comment on column qwf.slot_overview.claimed_at is 'When that job was claimed.';
comment on column qwf.slot_overview.worker is 'Worker that runs it.';
comment on column qwf.slot_overview.host is 'Box of that worker.';

commit;
