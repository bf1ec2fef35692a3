-- Verify qwf:triggers/tg_jobs__trouble

begin;

select 'qwf.tg_jobs__trouble()'::regprocedure;
select 1 / (count(*) / 2) from pg_catalog.pg_trigger t
where t.tgname in ('tg_jobs__trouble', 'tg_jobs__trouble_at_once') and t.tgrelid = 'qwf.jobs'::regclass;

rollback;
