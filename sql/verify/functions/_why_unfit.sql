-- Verify qwf:functions/_why_unfit

begin;

select 'qwf._why_unfit(qwf.jobs, timestamptz)'::regprocedure;

rollback;
