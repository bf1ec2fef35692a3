-- Verify qwf:functions/why_not

begin;

select 'qwf.why_not(bigint)'::regprocedure;

rollback;
