-- Boxes switched off and on, by people or by a worker whose jobs fail. Locks: the order of the
-- host and queue.

-- Switches the workers of a host on one queue on or off. Holds across restarts, and for hosts
-- that have not registered yet: those give a notice, because the name may be misspelt. The
-- triggers tell the agents and write the event, also for a plain INSERT or UPDATE of
-- worker_controls.
-- Locks: the row of host and queue.
-- Notifies: worker_control, with host:queue.
-- Raises: QW005 for an invalid state, policy or host, or a time that has passed; the trigger
--   raises QW005 for infinity and years from 10000 on, and QW006 for an unknown queue.
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

-- Returns what a worker is ordered to do: serve its queue, or stop, and how; and what is set for
-- its model servers. Always one row; on for a worker without an order and for one that is not
-- registered.
create function qwf.worker_orders(worker text)
returns table (
  state text, policy text, login text, acting_for text, reason text, until timestamptz,
  server text, parallel int, server_idle interval
)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
  select case when o.host is null then 'on' else 'off' end, o.stop_policy, o.login,
    o.acting_for, o.reason,
    o.until, c.server, c.parallel, c.server_idle
  from qwf.workers w
  left join qwf.worker_controls c on c.host_label = w.host and c.queue = w.queue
  left join qwf.switched_off o on o.host = w.host and o.queue = w.queue
  where w.id = worker_orders.worker;
  if not found then
    state := 'on';
    return next;
  end if;
end $$;
comment on function qwf.worker_orders is
  'The orders for a worker, in one row. state: on or off. If off: policy hard (kill the bodies, '
  'release their jobs, free the memory, park), drain (finish them, then park) or pause (claim '
  'nothing, keep the model), the login that asked and for whom, why, and until when. server, '
  'parallel and server_idle: '
  'what configure_server() has set.';
call _qwf.allow('qwf.worker_orders', 'qwf_worker');

-- Lets a worker switch its host off for a while because its jobs fail one after another. Lasts
-- ten minutes at most, as any worker can register under any host. If somebody has switched it
-- off already, that order stays as it is. Running jobs may finish. The trigger tells the other
-- agents of the host and writes the event.
-- Locks: the row of host and queue.
-- Notifies: worker_control, with host:queue.
-- Raises: QW001 for a worker that is not registered, QW005 for a time outside 1 s to 10 min.
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

-- Refuses to choose a model server that a host does not have, or to set anything for the servers
-- of a queue that has none there. While no worker of the host serves the queue, takes anything:
-- the box may come later.
-- Raises: QW005, naming the servers that the host has, or the queue where it has some.
create function _qwf.check_server_choice(p_host text, p_queue text, p_server text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_known text[];
  v_elsewhere text;
begin
  select array_agg(distinct s.value ->> 'name') filter (where s.value is not null) into v_known
  from qwf.workers w
  cross join qwf.settings g
  left join lateral jsonb_array_elements(w.servers) s on true
  where w.host = p_host and w.queue = p_queue and w.stopped_at is null
    and w.last_seen > qwf.now() - g.worker_stale
  having count(*) > 0;
  if not found or p_server = any (v_known) or (p_server is null and v_known is not null) then
    return;
  end if;
  select string_agg(distinct s.queue, ', ') into v_elsewhere
  from qwf.server_overview s where s.host = p_host and s.queue <> p_queue;
  raise exception using errcode = 'QW005',
    message = case when v_known is null then 'no model servers there' else 'no such server' end,
    detail = format('host %L, queue %L', left(p_host, 200), left(p_queue, 200))
      || coalesce(', server ' || quote_literal(left(p_server, 200)), ''),
    hint = coalesce(_qwf.did_you_mean(p_server, v_known),
      'its servers are ' || array_to_string(v_known, ', '),
      'the model servers of this host serve queue ' || v_elsewhere,
      'its agent has no servers: add [[server]] to its qwf.toml');
end $$;
