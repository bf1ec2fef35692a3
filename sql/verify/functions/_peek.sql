-- Verify qwf:functions/_peek

begin;

select 'qwf._peek(text, text, qwf.workers, timestamptz, int, boolean)'::regprocedure;

rollback;
