-- Revert qwf:views/queue_glance

begin;

drop view qwf.queue_glance;

commit;
