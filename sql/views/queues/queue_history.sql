-- Deploy qwf:views/queues/queue_history
-- Purpose: The load of each queue, minute by minute, for charts of the last days.

begin;

create view qwf.queue_history as
select
  m.queue, m.minute, m.queued, m.running, m.head_wait_seconds, m.completed,
  m.error + m.fatal + m.tempfail + m.lost as failed, m.released, m.cancelled
from qwf.queue_minutes m;
comment on view qwf.queue_history is
  'The load of each queue, minute by minute: select * from qwf.queue_history '
  'where queue = ''gpu'' and minute > now() - interval ''1 day'' order by minute.';
comment on column qwf.queue_history.queue is 'Name of the queue.';
comment on column qwf.queue_history.minute is 'Full minute (UTC).';
comment on column qwf.queue_history.queued is
  'Jobs that waited for a worker at its first tick, an estimate above 10,000; null: nobody looked.';
comment on column qwf.queue_history.running is 'Jobs that ran; null: nobody looked.';
comment on column qwf.queue_history.head_wait_seconds is
  'How long the first job in claim order had waited, seconds; null: none waited, or nobody looked.';
comment on column qwf.queue_history.completed is 'Attempts that completed.';
comment on column qwf.queue_history.failed is 'Attempts that failed or were lost.';
comment on column qwf.queue_history.released is 'Attempts whose job was handed back.';
comment on column qwf.queue_history.cancelled is 'Attempts that were cancelled.';

commit;
