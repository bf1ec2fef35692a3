-- Verify qwf:functions/_is_stopped

begin;

select 'qwf._is_stopped(bigint, bigint, text, bigint)'::regprocedure;

rollback;
