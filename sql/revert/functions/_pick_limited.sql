-- Revert qwf:functions/_pick_limited

begin;

drop function qwf._pick_limited(text, qwf.workers, timestamptz, boolean, qwf.limit_slots[]);

commit;
