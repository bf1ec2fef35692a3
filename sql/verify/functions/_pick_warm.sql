-- Verify qwf:functions/_pick_warm

begin;

select 'qwf._pick_warm(text, qwf.workers, timestamptz, int)'::regprocedure;

rollback;
