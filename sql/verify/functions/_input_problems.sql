-- Verify qwf:functions/_input_problems

begin;

select 'qwf._input_problems(jsonb, text)'::regprocedure;

rollback;
