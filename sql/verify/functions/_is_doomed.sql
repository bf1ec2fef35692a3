-- Verify qwf:functions/_is_doomed

begin;

select 'qwf._is_doomed(bigint, text, bigint)'::regprocedure;

rollback;
