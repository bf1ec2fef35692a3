-- Verify qwf:functions/expire_inputs

begin;

select 'qwf.expire_inputs(int)'::regprocedure;

rollback;
