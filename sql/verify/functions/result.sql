-- Verify qwf:functions/result

begin;

select 'qwf.result(bigint)'::regprocedure;

rollback;
