-- Verify qwf:functions/prune

begin;

select 'qwf.prune(int)'::regprocedure;

rollback;
