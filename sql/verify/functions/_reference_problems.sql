-- Verify qwf:functions/_reference_problems

begin;

select 'qwf._reference_problems(jsonb, text, jsonb)'::regprocedure;

rollback;
