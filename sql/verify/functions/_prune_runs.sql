-- Verify qwf:functions/_prune_runs

begin;

select 'qwf._prune_runs(int)'::regprocedure;

rollback;
