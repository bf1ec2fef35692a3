-- Verify qwf:functions/now

begin;

select 'qwf.now()'::regprocedure;

rollback;
