-- Verify qwf:functions/tick

begin;

select 'qwf.tick(interval)'::regprocedure;

rollback;
