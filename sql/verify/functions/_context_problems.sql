-- Verify qwf:functions/_context_problems

begin;

select 'qwf._context_problems(bigint, jsonb)'::regprocedure;

rollback;
