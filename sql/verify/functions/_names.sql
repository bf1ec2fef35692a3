-- Verify qwf:functions/_names

begin;

select 'qwf._names(jsonb)'::regprocedure;

rollback;
