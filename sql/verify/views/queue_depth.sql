-- Verify qwf:views/queue_depth

begin;

select queue, paused, max_running, workers, slots, queued, estimated, scheduled, more_scheduled,
  running, head, head_wait, oldest_wait from qwf.queue_depth where false;

rollback;
