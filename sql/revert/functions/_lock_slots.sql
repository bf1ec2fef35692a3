-- Revert qwf:functions/_lock_slots

begin;

drop function qwf._lock_slots(text, int);

commit;
