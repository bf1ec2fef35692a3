-- Verify qwf:functions/change_job

begin;

select 'qwf.change_job(bigint, int, text, timestamptz)'::regprocedure;

rollback;
