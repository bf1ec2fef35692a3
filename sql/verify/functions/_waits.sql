-- Verify qwf:functions/_waits

begin;

select 'qwf._waits(jsonb, jsonb, jsonb[])'::regprocedure;

rollback;
