-- Verify qwf:functions/_why_held

begin;

select 'qwf._why_held(qwf.jobs, timestamptz)'::regprocedure;

rollback;
