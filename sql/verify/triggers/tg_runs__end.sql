-- Verify qwf:triggers/tg_runs__end

begin;

select 'qwf.tg_runs__end()'::regprocedure;
select 1 / (count(*) / 2) from pg_catalog.pg_trigger t
where t.tgname in ('tg_runs__end', 'tg_runs__end_at_once') and t.tgrelid = 'qwf.runs'::regclass;

rollback;
