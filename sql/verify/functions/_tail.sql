-- Verify qwf:functions/_tail

begin;

select 'qwf._tail(text, int)'::regprocedure;

rollback;
