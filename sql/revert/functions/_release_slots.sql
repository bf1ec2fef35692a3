-- Revert qwf:functions/_release_slots

begin;

drop function qwf._release_slots(qwf.ended[]);

commit;
