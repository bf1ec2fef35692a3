-- Deploy qwf:functions/wake/echo
-- Purpose: Lets a worker find out whether notifications reach it.
-- Guarantees: Nothing else is said or written. Call it from another session than the one that
--   LISTENs: behind a pool by transaction a session may hear itself, and nobody else.
-- Notifies: the worker's own channel, payload echo.
-- Raises: QW005 for no worker.
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
  'Sends echo on the channel of the worker: one that hears it may poll seldom while it sleeps.';
call _qwf.allow('qwf.echo', 'qwf_worker');

commit;
