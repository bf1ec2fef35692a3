-- Verify qwf:functions/_why_unclaimed

begin;

select 'qwf._why_unclaimed(qwf.jobs, timestamptz)'::regprocedure;

rollback;
