-- Verify qwf:functions/_fits

begin;

select 'qwf._fits(qwf.jobs, qwf.workers, timestamptz)'::regprocedure;

rollback;
