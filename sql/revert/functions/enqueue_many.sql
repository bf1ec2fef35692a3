-- Revert qwf:functions/enqueue_many

begin;

drop function qwf.enqueue_many(jsonb);

commit;
