-- Revert qwf:triggers/tg_queues__update

begin;

drop trigger tg_queues__update on qwf.queues;

commit;
