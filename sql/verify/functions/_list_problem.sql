-- Verify qwf:functions/_list_problem

begin;

select 'qwf._list_problem(jsonb, jsonb)'::regprocedure;

rollback;
