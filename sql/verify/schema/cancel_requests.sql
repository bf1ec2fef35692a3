-- Verify qwf:schema/cancel_requests

begin;

select job_id, requested_by, reason, requested_at from qwf.cancel_requests where false;

rollback;
