-- Revert qwf:functions/_prune_runs

begin;

drop function qwf._prune_runs(int);

commit;
