-- Verify qwf:functions/_evaluate_operator

begin;

select 'qwf._evaluate_operator(jsonb, jsonb)'::regprocedure;

rollback;
