-- Revert qwf:functions/_pick_light

begin;

drop function qwf._pick_light(text, qwf.workers, timestamptz, int);

commit;
