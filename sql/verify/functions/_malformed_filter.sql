-- Verify qwf:functions/_malformed_filter

begin;

select 'qwf._malformed_filter(jsonb)'::regprocedure;

rollback;
