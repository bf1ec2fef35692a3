-- Verify qwf:functions/_repeated

begin;

select 'qwf._repeated(bigint, uuid, text)'::regprocedure;

rollback;
