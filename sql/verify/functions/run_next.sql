-- Verify qwf:functions/run_next

begin;

select 'qwf.run_next(bigint)'::regprocedure;

rollback;
