-- Verify qwf:functions/_assemble

begin;

select 'qwf._assemble(jsonb[])'::regprocedure;

rollback;
