-- Revert qwf:functions/_check_job

begin;

drop function qwf._check_job(qwf.new_job, text, int);

commit;
