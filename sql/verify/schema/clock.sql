-- Verify qwf:schema/clock

begin;

select last_value from qwf.last_tick;
select last_value from qwf.caught_up;
select last_value from qwf.next_fold;
select last_value from qwf.prune_job;

rollback;
