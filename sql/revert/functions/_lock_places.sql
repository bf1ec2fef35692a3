-- Revert qwf:functions/_lock_places

begin;

drop function qwf._lock_places(text, qwf.workers, timestamptz, int, boolean);

commit;
