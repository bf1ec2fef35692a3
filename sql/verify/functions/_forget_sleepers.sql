-- Verify qwf:functions/_forget_sleepers

begin;

select 'qwf._forget_sleepers()'::regprocedure;

rollback;
