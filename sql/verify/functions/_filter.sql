-- Verify qwf:functions/_filter

begin;

select 'qwf._filter(jsonb, jsonb)'::regprocedure;

rollback;
