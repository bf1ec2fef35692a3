-- Deploy qwf:functions/queues/change_settings
-- Purpose: Changes settings of the engine, or sets them back to their defaults.
-- Guarantees: All of the changes or none. What is not named stays, also what another session
--   changes at the same time. A notice tells who makes retention or
--   events_keep shorter.
-- Locks: the row of settings, which other functions only read.
-- Notifies: worker_control, with settings, if a value has changed.

begin;

create function qwf.change_settings(changes jsonb) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_constraint text;
  v_changes jsonb := _qwf.read_settings(change_settings.changes);
  v_before qwf.settings := (select s from qwf.settings s);
begin
  update qwf.settings s set (
    singleton, lease, heartbeat, poll, tick, timeout, cancel_grace, stop_grace, worker_stale,
    affinity_max_wait, pack_patience, avoid_host, crash_hold, stall_timeout, stall_samples,
    idle_gpu_percent, idle_cpu_percent, idle_ram_bytes, gpu_health_window, model_load_grace,
    model_idle, metrics, metrics_keep, minutes_keep, recycle_jobs, max_losses,
    error_attempts, transient_attempts, error_backoff, transient_backoff, event_tries,
    max_value_bytes, max_elements, max_error_bytes, max_log_bytes, secret_keys,
    retention, events_keep
  ) = (select n.* from jsonb_populate_record(s, v_changes) n);
  if v_before.retention > (select s.retention from qwf.settings s) then
    raise notice using message = 'what ended longer ago than the new retention is deleted soon',
      hint = format('to keep it: select qwf.change_settings(''{"retention": "%s"}'')',
        v_before.retention);
  end if;
  if v_before.events_keep > (select s.events_keep from qwf.settings s) then
    raise notice using message = 'events older than the new events_keep are deleted soon',
      hint = format('to keep them: select qwf.change_settings(''{"events_keep": "%s"}'')',
        v_before.events_keep);
  end if;
exception
  when check_violation then
    get stacked diagnostics v_constraint = constraint_name;
    raise exception using errcode = 'QW005', message = 'setting out of range',
      detail = format('%s; required: %s', left(v_changes::text, 200), (
        select regexp_replace(
          pg_get_constraintdef(c.oid, true), '^CHECK [(]|::[a-z]+|[)]$', '', 'g')
        from pg_constraint c
        where c.conrelid = 'qwf.settings'::regclass and c.conname = v_constraint)),
      hint = 'see what each setting means and holds now: select * from qwf.setting_overview';
  when data_exception then
    raise exception using errcode = 'QW005', message = 'invalid setting',
      detail = left(sqlerrm, 500),
      hint = 'see what each setting means and holds now: select * from qwf.setting_overview';
end $$;
comment on function qwf.change_settings is
  'Changes settings, such as {"lease": "1 min", "retention": "60 days"}; null sets the default '
  'again. Agents follow at once. QW005 for an unknown setting or an invalid value.';
call _qwf.allow('qwf.change_settings', 'qwf_admin');

commit;
