-- Verify qwf:functions/_check_run

begin;

select 'qwf._check_run(jsonb, jsonb, timestamptz)'::regprocedure;

rollback;
