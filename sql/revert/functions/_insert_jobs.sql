-- Revert qwf:functions/_insert_jobs

begin;

drop function qwf._insert_jobs(qwf.new_job[]);

commit;
