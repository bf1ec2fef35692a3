-- Verify qwf:functions/_wake

begin;

select 'qwf._wake(text, int)'::regprocedure;

rollback;
