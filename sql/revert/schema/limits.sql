-- Revert qwf:schema/limits

begin;

drop table qwf.limit_starts;
drop table qwf.limit_slots;
drop table qwf.limits;

commit;
