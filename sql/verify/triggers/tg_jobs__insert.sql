-- Verify qwf:triggers/tg_jobs__insert

begin;

select 'qwf.tg_jobs__insert()'::regprocedure;
select 1 / count(*) from pg_catalog.pg_trigger t where t.tgname = 'tg_jobs__insert' and t.tgrelid = 'qwf.jobs'::regclass;

rollback;
