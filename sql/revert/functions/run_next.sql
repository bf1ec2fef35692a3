-- Revert qwf:functions/run_next

begin;

drop function qwf.run_next(bigint);

commit;
