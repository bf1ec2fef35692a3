-- Revert qwf:functions/_raise_no_such_job

begin;

drop function qwf._raise_no_such_job(bigint);

commit;
