-- Verify qwf:functions/_drain_run

begin;

select 'qwf._drain_run(bigint)'::regprocedure;

rollback;
