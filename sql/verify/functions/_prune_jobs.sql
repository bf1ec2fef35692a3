-- Verify qwf:functions/_prune_jobs

begin;

select 'qwf._prune_jobs(int)'::regprocedure;

rollback;
