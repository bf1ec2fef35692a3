-- Verify qwf:functions/_pick_limited

begin;

select 'qwf._pick_limited(text, qwf.workers, timestamptz, boolean, qwf.limit_slots[])'::regprocedure;

rollback;
