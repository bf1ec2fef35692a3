-- Verify qwf:functions/_cancel_waiting

begin;

select 'qwf._cancel_waiting(bigint, text)'::regprocedure;

rollback;
