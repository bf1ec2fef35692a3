-- Revert qwf:triggers/tg_jobs__trouble

begin;

drop trigger tg_jobs__trouble on qwf.jobs;
drop function qwf.tg_jobs__trouble();

commit;
