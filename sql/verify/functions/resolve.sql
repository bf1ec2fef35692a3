-- Verify qwf:functions/resolve

begin;

select 'qwf.resolve(jsonb, jsonb)'::regprocedure;

rollback;
