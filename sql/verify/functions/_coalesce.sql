-- Verify qwf:functions/_coalesce

begin;

select 'qwf._coalesce(jsonb, jsonb)'::regprocedure;

rollback;
