-- Revert qwf:functions/_end_runs

begin;

drop function qwf._end_runs(bigint[]);

commit;
