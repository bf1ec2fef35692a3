-- Verify qwf:schema/live_logs

begin;

select job_id, worker, followed_until, attempt, end_offset, tail from qwf.live_logs where false;
select null::qwf.live_log;

rollback;
