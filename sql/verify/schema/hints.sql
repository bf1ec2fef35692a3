-- Verify qwf:schema/hints

begin;

select last_value from qwf.last_tick;
select last_value from qwf.last_complete_tick;
select last_value from qwf.last_complete_tick_xid;
select last_value from qwf.last_start_wake;
select last_value from qwf.next_start_wake;
select last_value from qwf.next_roll_up;
select last_value from qwf.last_roll_up_xid;
select last_value from qwf.prune_job;
select last_value from qwf.metrics_sent;

rollback;
