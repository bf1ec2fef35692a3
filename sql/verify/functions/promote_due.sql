-- Verify qwf:functions/promote_due

begin;

select 'qwf.promote_due(int)'::regprocedure;

rollback;
