-- Deploy qwf:functions/wake/_announce_trouble
-- Purpose: Notifies listeners that a job failed or that a person is asked, if
--   settings.notify_events is on.
-- Guarantees: Sent when the failure or the question commits. If it is off, it costs one look at the
--   settings.
-- Notifies: qwf_events.
-- Called by: tg_jobs__trouble, _insert_elements.

begin;

create function _qwf.announce_trouble(p_job qwf.jobs) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if (select s.notify_events from qwf.settings s) then
    perform pg_notify('qwf_events', jsonb_strip_nulls(jsonb_build_object(
      'event', case p_job.status when 'failed' then 'job_failed' else 'input_asked' end,
      'job_id', p_job.id, 'run_id', p_job.run_id, 'node_id', p_job.node_id, 'task', p_job.task,
      'queue', p_job.queue, 'project', left(p_job.project, 200),
      'error', left(split_part(p_job.last_error, E'\n', 1), 500),
      'prompt', case when p_job.status = 'awaiting_input'
        then left(p_job.input_spec ->> 'prompt', 500) end))::text);
  end if;
end $$;

commit;
