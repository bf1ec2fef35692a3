-- Verify qwf:functions/_fold

begin;

select 'qwf._fold(jsonb, jsonb)'::regprocedure;

rollback;
