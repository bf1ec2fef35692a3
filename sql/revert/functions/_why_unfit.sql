-- Revert qwf:functions/_why_unfit

begin;

drop function qwf._why_unfit(qwf.jobs, timestamptz);

commit;
