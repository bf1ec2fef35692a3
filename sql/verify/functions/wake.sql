-- Verify qwf:functions/wake

begin;

select 'qwf.wake(text)'::regprocedure;

rollback;
