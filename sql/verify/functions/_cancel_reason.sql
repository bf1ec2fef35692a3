-- Verify qwf:functions/_cancel_reason

begin;

select 'qwf._cancel_reason(bigint)'::regprocedure;

rollback;
