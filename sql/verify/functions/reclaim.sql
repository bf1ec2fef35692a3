-- Verify qwf:functions/reclaim

begin;

select 'qwf.reclaim(int)'::regprocedure;

rollback;
