-- Deploy qwf:functions/workers/withdraw_worker
-- Purpose: Lets a worker switch its host off for a while because its jobs fail one after another.
-- Guarantees: Lasts ten minutes at most, as any worker can register under any host. If somebody
--   has switched it off already, that order stays as it is. Running jobs may finish. The trigger
--   tells the other agents of the host and writes the event.
-- Locks: the row of host and queue.
-- Notifies: worker_control, with host:queue.
-- Raises: QW001 for a worker that is not registered, QW005 for a time outside 1 s to 10 min.
-- Called by: agents whose jobs fail one after another.

begin;

create function qwf.withdraw_worker(worker text, reason text, pause interval default '5 min')
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
  v_before text;
  v_worker qwf.workers;
  v_done boolean;
begin
  if starts_with(withdraw_worker.worker, 'qwf.') then
    perform _qwf.refuse_engine_name('worker', withdraw_worker.worker);
  end if;
  if _qwf.is_duration(withdraw_worker.pause, '10 min', p_least => '1 s') is not true then
    raise exception using errcode = 'QW005', message = 'invalid pause',
      detail = format('pause %s', withdraw_worker.pause),
      hint = 'give one second to ten minutes; worker_control() can switch it off for longer';
  end if;
  select w.* into v_worker from qwf.workers w
  where w.id = withdraw_worker.worker and w.stopped_at is null;
  if not found then
    raise exception using errcode = 'QW001', message = 'no such worker',
      detail = format('worker %L', left(withdraw_worker.worker, 200)),
      hint = 'register it again with register_worker()';
  end if;
  v_before := _qwf.act_for(case when _qwf.is_readable_name(v_worker.id) then v_worker.id end);
  insert into qwf.worker_controls as c (
    host_label, queue, desired_state, stop_policy, reason, until)
  values (
    v_worker.host, v_worker.queue, 'off', 'drain',
    left(withdraw_worker.reason, 1000), v_now + withdraw_worker.pause)
  on conflict (host_label, queue) do update set
    desired_state = excluded.desired_state, stop_policy = excluded.stop_policy,
    reason = excluded.reason, until = excluded.until
  where c.desired_state = 'on' or c.until <= v_now;
  v_done := found;
  perform set_config('qwf.acting_for', v_before, true);
  return v_done;
end $$;
comment on function qwf.withdraw_worker is
  'Switches the host of the worker off for its queue, for at most 10 minutes and with a reason; '
  'false if somebody has switched it off already. QW001 for an unknown worker.';
call _qwf.allow('qwf.withdraw_worker', 'qwf_worker');

commit;
