-- Deploy qwf:triggers/tg_jobs__trouble
-- requires: schema/jobs
-- requires: schema/settings
-- Purpose: Tells whoever listens that a job failed or that a person is asked, where
--   settings.notify_events says so.
-- Guarantees: Sent with the commit of the failure or question, however it came about. Switched off,
--   such a job costs one look at the settings, and nothing else costs anything.
-- Notifies: qwf_events.

begin;

create function qwf.tg_jobs__trouble() returns trigger
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if (select s.notify_events from qwf.settings s) then
    perform pg_notify('qwf_events', jsonb_strip_nulls(jsonb_build_object(
      'event', case new.status when 'failed' then 'job_failed' else 'input_asked' end,
      'job_id', new.id, 'run_id', new.run_id, 'node_id', new.node_id, 'task', new.task,
      'queue', new.queue, 'project', left(new.project, 200),
      'error', left(split_part(new.last_error, E'\n', 1), 500),
      'prompt', case when new.status = 'awaiting_input'
        then left(new.input_spec ->> 'prompt', 500) end))::text);
  end if;
  return null;
end $$;
comment on function qwf.tg_jobs__trouble() is
  'Sends job_failed or input_asked on channel qwf_events, if switched on.';
revoke all on function qwf.tg_jobs__trouble() from public;

create trigger tg_jobs__trouble after update on qwf.jobs
for each row when (new.status in ('failed', 'awaiting_input') and old.status <> new.status)
execute function qwf.tg_jobs__trouble();
comment on trigger tg_jobs__trouble on qwf.jobs is
  'A job that failed or asks a person is announced, if switched on.';

create trigger tg_jobs__trouble_at_once after insert on qwf.jobs
for each row when (new.status in ('failed', 'awaiting_input'))
execute function qwf.tg_jobs__trouble();
comment on trigger tg_jobs__trouble_at_once on qwf.jobs is
  'An element of a map whose inputs cannot be resolved has failed from the start.';

commit;
