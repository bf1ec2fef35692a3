-- Deploy qwf:functions/wake/echo
-- Purpose: Sends a worker a notification, so that it finds out whether notifications reach it.
-- Guarantees: Writes nothing. Call it from another session than the one that LISTENs: behind a pool
--   in transaction mode a session may receive its own notifications and nobody else's.
-- Notifies: the worker's own channel, payload echo.
-- Raises: QW005 if there is no worker.
-- Called by: agents, once for each connection.

begin;

create function qwf.echo(worker text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  perform _qwf.check_worker(echo.worker);
  perform pg_notify(qwf.wake_channel(echo.worker), 'echo');
end $$;
comment on function qwf.echo is
  'Sends echo on the channel of the worker. A worker that receives it may poll seldom while it '
  'sleeps.';
call _qwf.allow('qwf.echo', 'qwf_worker');

commit;
