-- Verify qwf:schema/limits

begin;

select name, max_running, starts, per, created_at from qwf.limits where false;
select limit_name, slot, job_id from qwf.limit_slots where false;
select limit_name, place, used_at from qwf.limit_starts where false;

rollback;
