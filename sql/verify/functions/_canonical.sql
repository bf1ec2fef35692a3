-- Verify qwf:functions/_canonical

begin;

select 'qwf._canonical(jsonb, jsonb)'::regprocedure;

rollback;
