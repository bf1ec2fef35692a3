-- Verify qwf:triggers/tg_worker_controls__write

begin;

select 'qwf.tg_worker_controls__write()'::regprocedure;
select 1 / count(*) from pg_catalog.pg_trigger t
where t.tgname = 'tg_worker_controls__write' and t.tgrelid = 'qwf.worker_controls'::regclass;

rollback;
