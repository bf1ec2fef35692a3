-- Verify qwf:functions/_store_limit

begin;

select 'qwf._store_limit(text, int)'::regprocedure;

rollback;
