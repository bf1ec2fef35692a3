-- Verify qwf:functions/_absolute_paths

begin;

select 'qwf._absolute_paths(jsonb)'::regprocedure;

rollback;
