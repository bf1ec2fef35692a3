-- Verify qwf:functions/_another_takes

begin;

select 'qwf._another_takes(qwf.jobs, timestamptz)'::regprocedure;

rollback;
