-- Verify qwf:functions/_key_problems

begin;

select 'qwf._key_problems(jsonb, jsonb, text[], text)'::regprocedure;

rollback;
