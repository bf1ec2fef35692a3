-- Verify qwf:functions/_token_job

begin;

select 'qwf._token_job(uuid)'::regprocedure;

rollback;
