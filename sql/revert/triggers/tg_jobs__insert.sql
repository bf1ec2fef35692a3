-- Revert qwf:triggers/tg_jobs__insert

begin;

drop trigger tg_jobs__insert on qwf.jobs;
drop function qwf.tg_jobs__insert();

commit;
