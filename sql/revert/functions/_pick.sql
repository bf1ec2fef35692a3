-- Revert qwf:functions/_pick

begin;

drop function qwf._pick(text, qwf.workers, timestamptz, int, boolean, qwf.limit_slots[]);

commit;
