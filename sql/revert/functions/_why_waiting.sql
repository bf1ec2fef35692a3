-- Revert qwf:functions/_why_waiting

begin;

drop function qwf._why_waiting(qwf.jobs, text[], timestamptz);

commit;
