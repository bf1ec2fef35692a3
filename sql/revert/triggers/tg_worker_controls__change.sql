-- Revert qwf:triggers/tg_worker_controls__change

begin;

drop trigger tg_worker_controls__change on qwf.worker_controls;
drop function qwf.tg_worker_controls__change();

commit;
