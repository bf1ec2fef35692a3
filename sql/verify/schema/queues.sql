-- Verify qwf:schema/queues

begin;

select name, paused, paused_at, max_running, lease, timeout, retention, placement, keep_completed, on_failure, created_at from qwf.queues where false;

rollback;
