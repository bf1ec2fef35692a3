-- Verify qwf:functions/_question_rules

begin;

select 'qwf._question_rules(jsonb)'::regprocedure;

rollback;
