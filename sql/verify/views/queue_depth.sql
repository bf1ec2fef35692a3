-- Verify qwf:views/queue_depth

begin;

select queue, paused, max_running, workers, slots, queued, scheduled, running, oldest_wait from
  qwf.queue_depth where false;

rollback;
