-- Revert qwf:schema/queues

begin;

drop table qwf.queues;

commit;
