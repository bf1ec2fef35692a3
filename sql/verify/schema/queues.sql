-- Verify qwf:schema/queues

begin;

select name, paused, lease, timeout, retention, created_at from qwf.queues where false;

rollback;
