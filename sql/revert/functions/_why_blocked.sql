-- Revert qwf:functions/_why_blocked

begin;

drop function qwf._why_blocked(qwf.jobs);

commit;
