-- Verify qwf:functions/_find_floor

begin;

select 'qwf._find_floor(text, qwf.workers, timestamptz, qwf.floor)'::regprocedure;

rollback;
