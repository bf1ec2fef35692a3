-- Revert qwf:functions/_why_unclaimed

begin;

drop function qwf._why_unclaimed(qwf.jobs, timestamptz);

commit;
