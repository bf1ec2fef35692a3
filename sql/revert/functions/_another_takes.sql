-- Revert qwf:functions/_another_takes

begin;

drop function qwf._another_takes(qwf.jobs, timestamptz);

commit;
