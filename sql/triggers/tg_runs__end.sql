-- Deploy qwf:triggers/tg_runs__end
-- Purpose: Notifies listeners that a run has ended, if settings.notify_events is on.
-- Guarantees: Sent when the end commits, for any reason. If it is off, a run that ends costs one
--   look at the settings, and nothing else costs anything.
-- Notifies: qwf_events.

begin;

create function _qwf.tg_runs__end() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if (select s.notify_events from qwf.settings s) then
    perform pg_notify('qwf_events', jsonb_strip_nulls(jsonb_build_object(
      'event', 'run_ended', 'run_id', new.id, 'workflow', new.workflow,
      'project', left(new.project, 200), 'status', new.status,
      'error', left(split_part(new.error, E'\n', 1), 500)))::text);
  end if;
  return null;
end $$;

create trigger tg_runs__end after update on qwf.runs
for each row when (new.finished_at is not null and old.finished_at is null)
execute function _qwf.tg_runs__end();
comment on trigger tg_runs__end on qwf.runs is 'Announces a run that has ended.';

create trigger tg_runs__end_at_once after insert on qwf.runs
for each row when (new.finished_at is not null)
execute function _qwf.tg_runs__end();
comment on trigger tg_runs__end_at_once on qwf.runs is
  'Announces a run without nodes, which ends when it is enqueued.';

commit;
