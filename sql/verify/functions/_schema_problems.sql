-- Verify qwf:functions/_schema_problems

begin;

select 'qwf._schema_problems(jsonb, jsonb, text)'::regprocedure;

rollback;
