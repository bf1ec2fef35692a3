-- Verify qwf:functions/_map_problems

begin;

select 'qwf._map_problems(jsonb, text)'::regprocedure;

rollback;
