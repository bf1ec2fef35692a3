-- Revert qwf:functions/_pick_newest

begin;

drop function qwf._pick_newest(text, qwf.workers, timestamptz, int, bigint[]);

commit;
