-- Revert qwf:functions/_why_held

begin;

drop function qwf._why_held(qwf.jobs, timestamptz);

commit;
