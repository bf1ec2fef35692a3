-- Revert qwf:functions/_prune_jobs

begin;

drop function qwf._prune_jobs(int);

commit;
