-- Verify qwf:functions/_why_full

begin;

select 'qwf._why_full(text)'::regprocedure;

rollback;
