-- Verify qwf:views/queue_glance

begin;

select queue, paused, max_running, workers, slots, queued, scheduled, more_scheduled, running, head,
  head_wait, oldest_wait from qwf.queue_glance where false;

rollback;
