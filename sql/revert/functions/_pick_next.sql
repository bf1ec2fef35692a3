-- Revert qwf:functions/_pick_next

begin;

drop function qwf._pick_next(text, qwf.workers, timestamptz, int, bigint[]);

commit;
