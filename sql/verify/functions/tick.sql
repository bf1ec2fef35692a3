-- Verify qwf:functions/tick

begin;

select 'qwf.tick()'::regprocedure;

rollback;
