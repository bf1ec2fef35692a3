-- Revert qwf:functions/result

begin;

drop function qwf.result(bigint);

commit;
