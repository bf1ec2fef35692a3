-- Revert qwf:functions/_keep_floor

begin;

drop function qwf._keep_floor(text, qwf.workers, timestamptz);

commit;
