-- Verify qwf:triggers/tg_worker_controls__change

begin;

select 'qwf.tg_worker_controls__change()'::regprocedure;
select 1 / count(*) from pg_catalog.pg_trigger t
where t.tgname = 'tg_worker_controls__change' and t.tgrelid = 'qwf.worker_controls'::regclass;

rollback;
