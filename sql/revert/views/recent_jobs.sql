-- Revert qwf:views/recent_jobs

begin;

drop view qwf.recent_jobs;

commit;
