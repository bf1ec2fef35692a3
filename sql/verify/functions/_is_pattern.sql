-- Verify qwf:functions/_is_pattern

begin;

select 'qwf._is_pattern(jsonb)'::regprocedure;

rollback;
