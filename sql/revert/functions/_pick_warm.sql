-- Revert qwf:functions/_pick_warm

begin;

drop function qwf._pick_warm(text, qwf.workers, timestamptz, int);

commit;
