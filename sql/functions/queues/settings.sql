-- The settings of the engine, read and changed. Locks: the row of settings, which all others
-- only read.

-- Changes settings of the engine, or sets them back to their defaults. All of the changes or
-- none. What is not named stays, also what another session changes at the same time. A notice
-- tells who makes retention or events_keep shorter.
-- Locks: the row of settings, which other functions only read.
-- Notifies: worker_control, with settings, if a value has changed.
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

-- Returns changes of settings with the default in place of each null.
-- Raises: QW005 for a value that is not an object, an unknown setting, an invalid backoff, or a
--   number alone as the time that something is kept: people who write 7 mean days, and Postgres
--   reads seconds.
create function _qwf.read_settings(p_changes jsonb) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_names text[] := array(select o.name from qwf.setting_overview o);
  v_name text;
  v_value jsonb;
  v_changes jsonb := '{}';
begin
  if jsonb_typeof(p_changes) is distinct from 'object' then
    raise exception using errcode = 'QW005', message = 'invalid settings',
      detail = format('changes %s', _qwf.excerpt(p_changes)),
      hint = 'give an object of names and values, such as {"lease": "1 min"}';
  end if;
  for v_name, v_value in select c.key, nullif(c.value, 'null') from jsonb_each(p_changes) c loop
    if v_name <> all (v_names) then
      raise exception using errcode = 'QW005', message = 'no such setting',
        detail = format('setting %L', left(v_name, 100)),
        hint = coalesce(_qwf.did_you_mean(v_name, v_names) || ' ', '')
          || 'all settings: select * from qwf.setting_overview';
    end if;
    if v_name in ('error_backoff', 'transient_backoff') and v_value is not null
      and _qwf.backoff_seconds(v_value, 1) is null then
      raise exception using errcode = 'QW005', message = 'invalid setting',
        detail = format('%s %s', v_name, _qwf.excerpt(v_value)),
        hint = 'a backoff is a list of seconds such as [1, 5, 30], '
          'or {"base": 1, "factor": 2, "max": 600}';
    end if;
    if v_name in ('retention', 'metrics_keep', 'minutes_keep', 'events_keep')
      and v_value #>> '{}' ~ '^ *[-+]?[0-9.]+ *$' then
      raise exception using errcode = 'QW005', message = 'invalid setting',
        detail = format('%s %s', v_name, _qwf.excerpt(v_value)),
        hint = 'write the unit of the time, as in 12 hours or 30 days';
    end if;
    v_changes := v_changes || jsonb_build_object(v_name, coalesce(v_value, (
      select o.default_value from qwf.setting_overview o where o.name = v_name)));
  end loop;
  return v_changes;
end $$;

-- Returns the words by which readers know what may be a secret. Every role that may read a value
-- may read them.
create function qwf.secret_keys() returns text[]
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$select s.secret_keys from qwf.settings s$$;
comment on function qwf.secret_keys is
  'Returns the setting secret_keys: qwf and its page hide texts below a key that has one of these '
  'words in it.';
call _qwf.allow('qwf.secret_keys', 'qwf_producer', 'qwf_worker', 'qwf_viewer');
