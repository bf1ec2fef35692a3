-- Verify qwf:functions/_end_runs

begin;

select 'qwf._end_runs(bigint[])'::regprocedure;

rollback;
