-- Revert qwf:functions/_prune_workers

begin;

drop function qwf._prune_workers(int);

commit;
