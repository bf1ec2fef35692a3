-- Verify qwf:schema/model_requests

begin;

select id, host, queue, model, action, requested_by, requested_at, taken_by, progress, answered_at, error from qwf.model_requests where false;

rollback;
