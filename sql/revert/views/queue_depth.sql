-- Revert qwf:views/queue_depth

begin;

drop view qwf.queue_depth;

commit;
