-- Verify qwf:functions/_is_unfinished

begin;

select 'qwf._is_unfinished(bigint, bigint)'::regprocedure;

rollback;
