-- Verify qwf:functions/_expressions

begin;

select 'qwf._expressions(jsonb, text)'::regprocedure;

rollback;
