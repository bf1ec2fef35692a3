-- Verify qwf:functions/_lock_slots

begin;

select 'qwf._lock_slots(text, int)'::regprocedure;

rollback;
