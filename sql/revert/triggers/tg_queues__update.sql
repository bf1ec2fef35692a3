-- Revert qwf:triggers/tg_queues__update

begin;

drop trigger tg_queues__update on qwf.queues;
drop function qwf.tg_queues__update();

commit;
