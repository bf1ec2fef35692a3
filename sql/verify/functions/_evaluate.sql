-- Verify qwf:functions/_evaluate

begin;

select 'qwf._evaluate(jsonb, jsonb)'::regprocedure;

rollback;
