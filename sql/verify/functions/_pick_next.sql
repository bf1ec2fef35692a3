-- Verify qwf:functions/_pick_next

begin;

select 'qwf._pick_next(text, qwf.workers, timestamptz, int, bigint[])'::regprocedure;

rollback;
