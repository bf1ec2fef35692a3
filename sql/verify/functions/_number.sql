-- Verify qwf:functions/_number

begin;

select 'qwf._number(jsonb, numeric)'::regprocedure;

rollback;
