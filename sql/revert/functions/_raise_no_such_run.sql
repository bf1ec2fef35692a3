-- Revert qwf:functions/_raise_no_such_run

begin;

drop function qwf._raise_no_such_run(bigint);

commit;
