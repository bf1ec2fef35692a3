-- Verify qwf:functions/_keep_floor

begin;

select 'qwf._keep_floor(text, qwf.workers, timestamptz)'::regprocedure;

rollback;
