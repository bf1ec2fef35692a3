-- Verify qwf:functions/_resolve

begin;

select 'qwf._resolve(jsonb, jsonb)'::regprocedure;

rollback;
