-- Verify qwf:triggers/tg_settings__update

begin;

select 'qwf.tg_settings__update()'::regprocedure;
select 1 / count(*) from pg_catalog.pg_trigger t
where t.tgname = 'tg_settings__update' and t.tgrelid = 'qwf.settings'::regclass;

rollback;
