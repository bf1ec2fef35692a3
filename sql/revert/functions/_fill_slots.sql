-- Revert qwf:functions/_fill_slots

begin;

drop function qwf._fill_slots(qwf.limit_slots[], bigint[]);

commit;
