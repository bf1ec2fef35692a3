-- Verify qwf:functions/_fill_slots

begin;

select 'qwf._fill_slots(qwf.limit_slots[], bigint[])'::regprocedure;

rollback;
