-- Verify qwf:schema/clock

begin;

select last_value from qwf.last_tick;

rollback;
