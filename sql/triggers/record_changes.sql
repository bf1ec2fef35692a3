-- Events for changed settings, queues, limits and schedules.

-- Writes the event of a changed setting, and of a created, changed or deleted queue, limit or
-- schedule (tg_queues__record and so on), with the values that differ. Holds for every
-- statement: the old values are those of the row version that the statement replaced, so that of
-- two changes at once the second names what the first has written. Nothing that differs: no
-- event. The arguments of a schedule are not written, only that they have changed.
create function _qwf.tg_settings__record() returns trigger
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
declare
  v_kind constant text := tg_argv[0];
  v_left_out constant text[] := '{name,args,created_at,paused_at,effective_lease,effective_timeout,
    next_at,last_due_at,last_fired_at,last_job_id,last_run_id,fired,skipped,failed,last_error,
    resume_at}';
  v_old jsonb := case when tg_op <> 'INSERT' then to_jsonb(old) end;
  v_new jsonb := case when tg_op <> 'DELETE' then to_jsonb(new) end;
begin
  if v_kind = 'settings_changed' then  -- one event for each
    perform _qwf.record_change(v_kind, n.key, jsonb_build_object(n.key, v_old -> n.key),
      jsonb_build_object(n.key, n.value))
    from jsonb_each(v_new) n;
  else
    perform _qwf.record_change(v_kind, coalesce(v_new, v_old) ->> 'name', v_old - v_left_out,
      v_new - v_left_out || case when v_old -> 'args' <> v_new -> 'args'
        then '{"args_changed": true}' else '{}' end::jsonb);
  end if;
  return null;
end $$;

create trigger tg_settings__record after update on qwf.settings
for each row when (old.* is distinct from new.*)
execute function _qwf.tg_settings__record('settings_changed');
comment on trigger tg_settings__record on qwf.settings is
  'Writes who changed which setting, from what to what.';

-- Writes the event of a created, changed or deleted queue (see tg_settings__record). Nothing for
-- values that are derived from others.
create trigger tg_queues__record after insert or update or delete on qwf.queues
for each row
execute function _qwf.tg_settings__record('queue_changed');
comment on trigger tg_queues__record on qwf.queues is
  'Writes who created, changed or deleted a queue, from what to what.';

-- Writes the event of a created, changed or deleted limit (see tg_settings__record). Nothing for
-- the limit of a queue: the event of the queue names it.
create trigger tg_limits__record after insert or update on qwf.limits
for each row when (not starts_with(new.name, 'queue:'))
execute function _qwf.tg_settings__record('limit_changed');
comment on trigger tg_limits__record on qwf.limits is
  'Writes who created or changed a limit, from what to what.';

create trigger tg_limits__record_drop after delete on qwf.limits
for each row when (not starts_with(old.name, 'queue:'))
execute function _qwf.tg_settings__record('limit_changed');
comment on trigger tg_limits__record_drop on qwf.limits is
  'Writes who deleted a limit, and what it was.';

-- Writes the event of a created, changed or deleted schedule (see tg_settings__record). Nothing
-- for a schedule that fires. A schedule that is switched off because it is never due again is a
-- change, by the login that called tick().
create trigger tg_schedules__record after insert or delete on qwf.schedules
for each row execute function _qwf.tg_settings__record('schedule_changed');
comment on trigger tg_schedules__record on qwf.schedules is
  'Writes who created or deleted a schedule, and what it is.';

create trigger tg_schedules__record_change after update on qwf.schedules
for each row when (
  (old.name, old.task, old.workflow, old.cron, old.minute, old.hours, old.every, old.anchor,
    old.timezone, old.args, old.queue, old.priority, old.project, old.catch_up, old.overlap,
    old.enabled, old.options, old.expect)
  is distinct from
  (new.name, new.task, new.workflow, new.cron, new.minute, new.hours, new.every, new.anchor,
    new.timezone, new.args, new.queue, new.priority, new.project, new.catch_up, new.overlap,
    new.enabled, new.options, new.expect))
execute function _qwf.tg_settings__record('schedule_changed');
comment on trigger tg_schedules__record_change on qwf.schedules is
  'Writes who changed a schedule, from what to what.';
