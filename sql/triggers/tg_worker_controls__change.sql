-- Deploy qwf:triggers/tg_worker_controls__change
-- Purpose: Tells agents that an order for them has changed, and records the change.
-- Guarantees: Holds for every statement, and does nothing if the order stays the same. Deleting the
--   row is an order to go on.
-- Notifies: worker_control, with host:queue.

begin;

create function qwf.tg_worker_controls__change() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_row qwf.worker_controls := coalesce(new, old);
  v_state text := case when tg_op = 'DELETE' then 'on' else v_row.desired_state end;
begin
  if tg_op <> 'UPDATE' or (old.host_label, old.queue, old.desired_state, old.stop_policy,
      old.reason, old.until) is distinct from (new.host_label, new.queue, new.desired_state,
      new.stop_policy, new.reason, new.until) then
    perform pg_notify('worker_control', v_row.host_label || ':' || v_row.queue);
    insert into qwf.job_events (at, type, actor, detail)
    values (qwf.now(), 'worker_' || v_state, _qwf.actor(), jsonb_strip_nulls(jsonb_build_object(
      'host', v_row.host_label, 'queue', v_row.queue, 'policy', v_row.stop_policy,
      'reason', v_row.reason, 'until', v_row.until, 'by', v_row.requested_by)));
  end if;
  return null;
end $$;
comment on function qwf.tg_worker_controls__change is
  'Sends host:queue on channel worker_control and records worker_off or worker_on.';
revoke all on function qwf.tg_worker_controls__change from public;

create trigger tg_worker_controls__change after insert or update or delete on qwf.worker_controls
for each row execute function qwf.tg_worker_controls__change();
comment on trigger tg_worker_controls__change on qwf.worker_controls is
  'Tells agents of every changed order, and records it.';

commit;
