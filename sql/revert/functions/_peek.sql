-- Revert qwf:functions/_peek

begin;

drop function qwf._peek(text, text, qwf.workers, timestamptz, int, boolean);

commit;
