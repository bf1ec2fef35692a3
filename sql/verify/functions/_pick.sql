-- Verify qwf:functions/_pick

begin;

select 'qwf._pick(text, qwf.workers, timestamptz, int, boolean, qwf.limit_slots[])'::regprocedure;

rollback;
