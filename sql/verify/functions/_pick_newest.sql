-- Verify qwf:functions/_pick_newest

begin;

select 'qwf._pick_newest(text, qwf.workers, timestamptz, int, bigint[])'::regprocedure;

rollback;
