-- Revert qwf:functions/_floor

begin;

drop function qwf._floor(text, qwf.workers, timestamptz);

commit;
