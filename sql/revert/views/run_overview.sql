-- Revert qwf:views/run_overview

begin;

drop view qwf.run_overview;

commit;
