-- Verify qwf:functions/_is_true

begin;

select 'qwf._is_true(jsonb)'::regprocedure;

rollback;
