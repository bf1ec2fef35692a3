-- Verify qwf:functions/_release_slots

begin;

select 'qwf._release_slots(qwf.ended[])'::regprocedure;

rollback;
