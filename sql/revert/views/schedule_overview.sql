-- Revert qwf:views/schedule_overview

begin;

drop view qwf.schedule_overview;

commit;
