-- Revert qwf:views/job_details

begin;

drop view qwf.job_details;

commit;
