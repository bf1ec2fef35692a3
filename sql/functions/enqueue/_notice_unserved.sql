-- Deploy qwf:functions/enqueue/_notice_unserved
-- Purpose: Tells a producer that no live worker serves the queue.
-- Guarantees: Only a notice: the job waits until a worker comes.
-- Called by: enqueue, enqueue_many.

begin;

create function _qwf.notice_unserved(p_queue text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  raise notice using message = format('no live worker serves queue %I', p_queue),
    hint = format('the job waits until one does: qwf agent --queue %s', p_queue);
end $$;

commit;
