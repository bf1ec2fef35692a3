-- Verify qwf:functions/_is_type

begin;

select 'qwf._is_type(jsonb, jsonb)'::regprocedure;

rollback;
