-- Verify qwf:schema/limits

begin;

select name, max_running, created_at from qwf.limits where false;
select limit_name, slot, job_id from qwf.limit_slots where false;

rollback;
