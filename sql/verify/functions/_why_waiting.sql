-- Verify qwf:functions/_why_waiting

begin;

select 'qwf._why_waiting(qwf.jobs, text[], timestamptz)'::regprocedure;

rollback;
