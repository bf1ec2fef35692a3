-- Verify qwf:functions/_prune_workers

begin;

select 'qwf._prune_workers(int)'::regprocedure;

rollback;
