-- Revert qwf:functions/_pick_above

begin;

drop function qwf._pick_above(qwf.floor, text, qwf.workers, timestamptz, int, bigint[]);

commit;
