-- Verify qwf:functions/_definition_schema_problems

begin;

select 'qwf._definition_schema_problems(jsonb, text)'::regprocedure;

rollback;
