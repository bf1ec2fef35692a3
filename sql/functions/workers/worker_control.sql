-- Deploy qwf:functions/workers/worker_control
-- Purpose: Switches the workers of a host on one queue on or off.
-- Guarantees: Holds across restarts, and for hosts that have not registered yet: those give a
--   notice, because the name may be misspelt. The triggers tell the agents and write the event,
--   also for a plain INSERT or UPDATE of worker_controls.
-- Locks: the row of host and queue.
-- Notifies: worker_control, with host:queue.
-- Raises: QW005 for an invalid state, policy or host, or a time that has passed; the trigger raises
--   QW005 for infinity and years from 10000 on, and QW006 for an unknown queue.

begin;

create function qwf.worker_control(
  host text, queue text, state text, policy text default 'hard', acting_for text default null,
  reason text default null, until timestamptz default null)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_before constant text := _qwf.act_for(worker_control.acting_for);
begin
  perform _qwf.check_text('host', worker_control.host),
    _qwf.check_text('reason', worker_control.reason, 4096);
  if coalesce(worker_control.host, '') = ''
    or coalesce(worker_control.state not in ('on', 'off'), true)
    or coalesce(worker_control.policy not in ('hard', 'drain', 'pause'), true)
    or worker_control.until <= qwf.now() then
    raise exception using errcode = 'QW005', message = 'invalid order',
      detail = format('host %L, state %L, policy %L, until %s',
        left(worker_control.host, 200), left(worker_control.state, 200),
        left(worker_control.policy, 200), worker_control.until),
      hint = 'name the host; state is on or off, policy is hard, drain or pause, '
        'until is in the future';
  end if;
  insert into qwf.worker_controls as c (
    host_label, queue, desired_state, stop_policy, reason, until)
  values (
    worker_control.host, worker_control.queue, worker_control.state, worker_control.policy,
    worker_control.reason, worker_control.until)
  on conflict (host_label, queue) do update set
    desired_state = excluded.desired_state, stop_policy = excluded.stop_policy,
    reason = excluded.reason, until = excluded.until;
  perform set_config('qwf.acting_for', v_before, true);
  if not exists (
    select from qwf.workers w
    where w.host = worker_control.host and w.queue = worker_control.queue) then
    raise notice using
      message = format('no worker of %I on %I has been seen yet', worker_control.host,
        worker_control.queue),
      hint = coalesce((
          select 'it has served ' || string_agg(distinct quote_ident(w.queue), ', ') || '; '
          from qwf.workers w where w.host = worker_control.host),
        _qwf.did_you_mean(worker_control.host, array(
          select distinct w.host from qwf.workers w)) || ' ', '')
        || 'this holds for the next one that starts there';
  end if;
end $$;
comment on function qwf.worker_control is
  'Switches the workers of a host on a queue on or off. policy: hard (kill the bodies and hand '
  'their jobs back), drain (finish them first), pause (claim nothing, keep the model). until: when '
  'off turns into on by itself. QW005 for an invalid value, QW006 for an unknown queue.';
call _qwf.allow('qwf.worker_control', 'qwf_admin');

commit;
