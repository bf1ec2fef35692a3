-- Deploy qwf:functions/workers/worker_alive
-- Purpose: Returns whether a live worker runs on a host, whatever it serves or on one queue.
-- Guarantees: A worker that is switched off is alive. False for a host that nobody knows.
-- Called by: health checks, with the login of an agent, which may read no table.

begin;

create function qwf.worker_alive(host text, queue text default null) returns boolean
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_since timestamptz := qwf.now() - (select s.worker_stale from qwf.settings s);
begin
  return exists (
    select from qwf.workers w
    where w.host = worker_alive.host
      and (worker_alive.queue is null or w.queue = worker_alive.queue)
      and w.stopped_at is null and w.last_seen > v_since);
end $$;
comment on function qwf.worker_alive is
  'True if a worker on the host, or on the host and queue, was seen within worker_stale.';
call _qwf.allow('qwf.worker_alive', 'qwf_worker', 'qwf_viewer');

commit;
