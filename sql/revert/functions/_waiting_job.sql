-- Revert qwf:functions/_waiting_job

begin;

drop function qwf._waiting_job(bigint);

commit;
