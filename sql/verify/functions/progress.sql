-- Verify qwf:functions/progress

begin;

select 'qwf.progress(bigint, uuid, real, text)'::regprocedure;

rollback;
