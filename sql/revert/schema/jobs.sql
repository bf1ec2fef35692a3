-- Revert qwf:schema/jobs

begin;

drop table qwf.jobs;
drop sequence qwf.job_position;

commit;
