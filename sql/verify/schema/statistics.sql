-- Verify qwf:schema/statistics

begin;

select minute, queue, task, outcome, waits, runs from qwf.attempt_counts where false;
select hour, queue, task, outcome, count, wait_seconds, wait_max, waits, run_seconds, run_max, runs from qwf.hourly_counts where false;

rollback;
