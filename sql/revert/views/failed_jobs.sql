-- Revert qwf:views/failed_jobs

begin;

drop view qwf.failed_jobs;

commit;
