-- Verify qwf:functions/_object

begin;

select 'qwf._object(jsonb)'::regprocedure;

rollback;
