-- Revert qwf:views/job_timeline

begin;

drop view qwf.job_timeline;

commit;
