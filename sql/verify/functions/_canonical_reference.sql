-- Verify qwf:functions/_canonical_reference

begin;

select 'qwf._canonical_reference(jsonb, jsonb)'::regprocedure;

rollback;
