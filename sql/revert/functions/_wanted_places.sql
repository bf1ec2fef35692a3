-- Revert qwf:functions/_wanted_places

begin;

drop function qwf._wanted_places(text, qwf.workers, timestamptz, int, boolean, jsonb);

commit;
