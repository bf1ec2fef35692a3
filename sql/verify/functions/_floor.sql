-- Verify qwf:functions/_floor

begin;

select 'qwf._floor(text, qwf.workers, timestamptz)'::regprocedure;

rollback;
