-- Deploy qwf:triggers/tg_settings__record
-- Purpose: Writes the event of a changed setting, and of a created, changed or deleted queue, limit
--   or schedule (tg_queues__record and so on), with the values that differ.
-- Guarantees: Holds for every statement: the old values are those of the row version that the
--   statement replaced, so that of two changes at once the second names what the first has written.
--   Nothing that differs: no event. The arguments of a schedule are not written, only that they
--   have changed.

begin;

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

commit;
