-- Verify qwf:functions/_unknown_names

begin;

select 'qwf._unknown_names(jsonb)'::regprocedure;

rollback;
