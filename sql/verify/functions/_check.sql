-- Verify qwf:functions/_check

begin;

select 'qwf._check(jsonb, jsonb)'::regprocedure;

rollback;
