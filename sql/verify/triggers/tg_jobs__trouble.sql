-- Verify qwf:triggers/tg_jobs__trouble

begin;

select 'qwf.tg_jobs__trouble()'::regprocedure;
select 1 / count(*) from pg_catalog.pg_trigger t
where t.tgname = 'tg_jobs__trouble' and t.tgrelid = 'qwf.jobs'::regclass;

rollback;
