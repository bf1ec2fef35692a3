-- Verify qwf:functions/_malformed_path

begin;

select 'qwf._malformed_path(jsonb)'::regprocedure;

rollback;
