-- Verify qwf:functions/_pick_above

begin;

select 'qwf._pick_above(qwf.floor, text, qwf.workers, timestamptz, int, bigint[])'::regprocedure;

rollback;
