-- Verify qwf:functions/_substitute

begin;

select 'qwf._substitute(jsonb, text[], jsonb)'::regprocedure;

rollback;
