-- Verify qwf:functions/_misfits

begin;

select 'qwf._misfits(qwf.jobs, qwf.workers, timestamptz)'::regprocedure;

rollback;
