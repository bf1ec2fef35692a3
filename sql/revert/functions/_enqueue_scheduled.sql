-- Revert qwf:functions/_enqueue_scheduled

begin;

drop function qwf._enqueue_scheduled(qwf.schedules, timestamptz);

commit;
