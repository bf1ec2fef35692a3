-- Revert qwf:views/dead_workers

begin;

drop view qwf.dead_workers;

commit;
