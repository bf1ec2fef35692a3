-- Revert qwf:views/job_stats

begin;

drop view qwf.job_stats;

commit;
