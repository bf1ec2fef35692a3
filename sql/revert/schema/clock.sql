-- Revert qwf:schema/clock

begin;

drop sequence qwf.last_tick;

commit;
