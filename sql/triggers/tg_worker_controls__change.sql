-- Deploy qwf:triggers/tg_worker_controls__change
-- Purpose: Tells agents that an order for them, or what is set for their model servers, has
--   changed, and records the change.
-- Guarantees: Holds for every statement, and does nothing if all stays the same. Deleting the row
--   is an order to go on.
-- Notifies: worker_control, with host:queue; workers that read no orders, with cancel, if they are
--   off hard; worker_llm_config_changed, with host|queue, for model
--   servers alone.

begin;

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
    perform pg_notify(qwf.wake_channel(w.id), 'cancel')  -- its heartbeat gives the jobs back
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

commit;
