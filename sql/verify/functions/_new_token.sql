-- Verify qwf:functions/_new_token

begin;

select 'qwf._new_token(bigint)'::regprocedure;

rollback;
