-- Verify qwf:functions/_close_run

begin;

select 'qwf._close_run(bigint, qwf.run_status, text, boolean)'::regprocedure;

rollback;
