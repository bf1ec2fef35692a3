-- Verify qwf:functions/_maps_to_resume

begin;

select 'qwf._maps_to_resume(bigint[], text)'::regprocedure;

rollback;
