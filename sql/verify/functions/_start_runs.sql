-- Verify qwf:functions/_start_runs

begin;

select 'qwf._start_runs(bigint[], timestamptz)'::regprocedure;

rollback;
