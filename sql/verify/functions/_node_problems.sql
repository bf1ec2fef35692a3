-- Verify qwf:functions/_node_problems

begin;

select 'qwf._node_problems(jsonb, text)'::regprocedure;

rollback;
