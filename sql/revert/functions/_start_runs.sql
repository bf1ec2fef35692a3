-- Revert qwf:functions/_start_runs

begin;

drop function qwf._start_runs(bigint[], timestamptz);

commit;
