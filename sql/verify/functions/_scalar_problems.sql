-- Verify qwf:functions/_scalar_problems

begin;

select 'qwf._scalar_problems(jsonb, jsonb)'::regprocedure;

rollback;
