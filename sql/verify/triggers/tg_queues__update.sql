-- Verify qwf:triggers/tg_queues__update

begin;

select 1 / count(*) from pg_catalog.pg_trigger t
where t.tgname = 'tg_queues__update' and t.tgrelid = 'qwf.queues'::regclass;

rollback;
