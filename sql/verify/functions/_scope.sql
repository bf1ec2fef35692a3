-- Verify qwf:functions/_scope

begin;

select 'qwf._scope(bigint, int[], text[])'::regprocedure;

rollback;
