-- Verify qwf:schema/outbox

begin;

select id, run_id, job_id, kind, tries, next_try_at, error, poisoned_at, created_at from qwf.outbox where false;

rollback;
