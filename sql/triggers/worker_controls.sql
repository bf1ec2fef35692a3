-- Orders for boxes checked, announced and recorded.

-- Makes a row written to worker_controls by hand as valid as one written by worker_control().
-- Sets updated_at for every statement, and does not carry an end that has passed over to the
-- next order. The login that gave the order is always the one of the session; a statement can
-- say in requested_by for whom it acts, as worker_control() can.
-- Raises: QW006 for an unknown queue, because nobody would ever read the order; QW005 for an end
--   that is no date of a calendar, because many drivers cannot read it, for a model server that
--   the host does not have, and for anything about servers on a queue where the host has none.
create function _qwf.tg_worker_controls__write() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  if not exists (select from qwf.queues q where q.name = new.queue) then
    perform _qwf.raise_unknown_queue(new.queue);
  end if;
  if not isfinite(new.until) or new.until >= '10000-01-01 00:00Z' then
    raise exception using errcode = 'QW005', message = 'invalid end of an order',
      detail = format('until %s', new.until),
      hint = 'until is before the year 10000; leave it out for an order without an end';
  end if;
  if num_nonnulls(new.server, new.parallel, new.server_idle) > 0
    and (new.server, new.parallel, new.server_idle)
      is distinct from (old.server, old.parallel, old.server_idle) then  -- nulls for an insert
    perform _qwf.check_server_choice(new.host_label, new.queue,
      case when new.server is distinct from old.server then new.server end);
  end if;
  new.updated_at := qwf.now();
  if new.desired_state = 'on' or (new.until = old.until and new.until <= qwf.now()) then
    new.until := null;
  end if;
  if tg_op = 'INSERT' or (new.desired_state, new.stop_policy, new.reason, new.until)
      is distinct from (old.desired_state, old.stop_policy, old.reason, old.until) then
    new.login := session_user;
    new.requested_by := coalesce(
      case when new.requested_by is distinct from old.requested_by
          and _qwf.is_readable_name(new.requested_by) then new.requested_by end,
      _qwf.acting_for());
  else
    new.login := old.login;
    new.requested_by := old.requested_by;
  end if;
  return new;
end $$;

create trigger tg_worker_controls__write before insert or update on qwf.worker_controls
for each row execute function _qwf.tg_worker_controls__write();
comment on trigger tg_worker_controls__write on qwf.worker_controls is
  'Makes plain statements as valid as worker_control().';

-- Tells agents that an order for them, or what is set for their model servers, has changed, and
-- records the change. Holds for every statement, and does nothing if all stays the same.
-- Deleting the row is an order to go on.
-- Notifies: worker_control, with host:queue; workers that read no orders, with cancel, if they
--   are off hard; worker_llm_config_changed, with host|queue, for model servers alone.
create function _qwf.tg_worker_controls__change() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_row qwf.worker_controls := coalesce(new, old);
  v_old qwf.worker_controls := case when tg_op <> 'INSERT' then old end;
  v_new qwf.worker_controls := case when tg_op <> 'DELETE' then new end;
  v_place jsonb := jsonb_build_object('host', v_row.host_label, 'queue', v_row.queue);
  v_other constant text[] :=
    '{host_label,queue,requested_by,login,server,parallel,server_idle,created_at,updated_at}';
  v_orders constant text[] := '{host_label,queue,requested_by,login,desired_state,stop_policy,'
    'reason,until,created_at,updated_at}';
  v_servers_changed boolean := (v_old.server, v_old.parallel, v_old.server_idle)
    is distinct from (v_new.server, v_new.parallel, v_new.server_idle);
  v_ordered boolean := case tg_op
    when 'UPDATE' then (old.host_label, old.queue, old.desired_state, old.stop_policy, old.reason,
      old.until) is distinct from (new.host_label, new.queue, new.desired_state, new.stop_policy,
      new.reason, new.until)
    -- else a new row is only about model servers
    else v_row.desired_state = 'off' or not v_servers_changed end;
  v_before constant text := _qwf.act_for(case when v_ordered then v_new.requested_by end);
begin
  if v_ordered then
    insert into _qwf.event_log (at, kind, subject, detail)
    values (qwf.now(), case when v_new.desired_state = 'off' then 'worker_off' else 'worker_on' end,
      v_row.host_label, v_place || jsonb_strip_nulls(jsonb_build_object(
        'policy', v_row.stop_policy, 'reason', v_row.reason, 'until', v_row.until))
        || coalesce(_qwf.difference(to_jsonb(v_old) - v_other, to_jsonb(v_new) - v_other), '{}'));
  end if;
  if v_servers_changed then
    perform pg_notify('worker_llm_config_changed', v_row.host_label || '|' || v_row.queue);
    insert into _qwf.event_log (at, kind, subject, detail)
    values (qwf.now(), 'worker_server', v_row.host_label, v_place || jsonb_strip_nulls(
      jsonb_build_object('server', v_new.server, 'parallel', v_new.parallel,
        'idle', v_new.server_idle))
      || _qwf.difference(to_jsonb(v_old) - v_orders, to_jsonb(v_new) - v_orders));
  end if;
  perform set_config('qwf.acting_for', v_before, true);
  if v_ordered and v_new.desired_state = 'off' and v_new.stop_policy = 'hard' then
    perform pg_notify(qwf.wake_channel(w.id), 'cancel')  -- its heartbeat releases the jobs
    from qwf.workers w
    where w.host = v_row.host_label and w.queue = v_row.queue and w.stopped_at is null
      and not w.follows_orders;
  end if;
  if v_ordered or v_servers_changed then
    perform pg_notify('worker_control', v_row.host_label || ':' || v_row.queue);
  end if;
  return null;
end $$;

create trigger tg_worker_controls__change after insert or update or delete on qwf.worker_controls
for each row execute function _qwf.tg_worker_controls__change();
comment on trigger tg_worker_controls__change on qwf.worker_controls is
  'Tells agents of every changed order or server, and records it.';
