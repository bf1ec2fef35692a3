-- Revert qwf:triggers/tg_worker_controls__write

begin;

drop trigger tg_worker_controls__write on qwf.worker_controls;
drop function qwf.tg_worker_controls__write();

commit;
