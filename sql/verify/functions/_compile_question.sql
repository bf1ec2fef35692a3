-- Verify qwf:functions/_compile_question

begin;

select 'qwf._compile_question(jsonb, jsonb)'::regprocedure;

rollback;
