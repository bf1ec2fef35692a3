-- Revert qwf:functions/_find_floor

begin;

drop function qwf._find_floor(text, qwf.workers, timestamptz, qwf.floor);

commit;
