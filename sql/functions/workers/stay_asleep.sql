-- Deploy qwf:functions/workers/stay_asleep
-- Purpose: Does in one call everything that a sleeping worker without a job needs.
-- Guarantees: Sends its heartbeat and renews its sleep. The answer says only whether to ask for
--   orders, for requests or for a tick, because there are rarely any.
-- Locks: the worker's own rows: in workers, if nobody else has locked it, and in sleepers.
-- Raises: QW005 for stats that are not an object, or an invalid age, QW006 for an unknown queue.
-- Called by: agents that sleep, every few seconds.

begin;

create function qwf.stay_asleep(
  worker text, queue text, stats jsonb default null, max_age interval default '1 s')
returns qwf.awaited
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_complete_at timestamptz := _qwf.last_complete_tick(stay_asleep.max_age);
  v_awaited qwf.awaited;
begin
  perform qwf.heartbeat(stay_asleep.worker, stats => stay_asleep.stats);
  perform qwf.sleep(stay_asleep.worker, stay_asleep.queue);
  select
    exists (select from qwf.switched_off o where o.host = w.host and o.queue = w.queue)
    or exists (
      select from qwf.model_requests r
      where r.host = w.host and r.queue = w.queue and r.taken_by is null)
    or exists (
      select from qwf.worker_controls c
      where c.host_label = w.host and c.queue = w.queue
        and num_nonnulls(c.server, c.parallel, c.server_idle) > 0)
    into v_awaited.ordered
  from qwf.workers w
  where w.id = stay_asleep.worker and w.stopped_at is null;
  v_awaited.registered := found;
  v_awaited.sleepers := (select count(*) from qwf.sleepers s);
  v_awaited.tick_in_s := case when v_complete_at is null then 0
    else _qwf.next_due_s(v_complete_at) end;
  return v_awaited;
end $$;
comment on function qwf.stay_asleep is
  'Heartbeat and renewed sleep, in one call, of a worker that holds no job. Answers whether there '
  'are orders or requests for it, and when a tick is wanted: now, if none has done everything '
  'within max_age. QW006 for an unknown queue.';
call _qwf.allow('qwf.stay_asleep', 'qwf_worker');

commit;
