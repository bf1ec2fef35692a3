-- Verify qwf:functions/_fetch

begin;

select 'qwf._fetch(jsonb, jsonb)'::regprocedure;

rollback;
