-- Deploy qwf:functions/wake/_announce_trouble
-- Purpose: Notifies listeners that jobs failed or that a person is asked, if
--   settings.notify_events is on.
-- Guarantees: Sent when the failure or the question commits. Skips those of the jobs that have
--   neither failed nor ask. If it is off, it costs one look at the settings. Every function that
--   gives a job one of these states calls it: a trigger would cost every claim and every finish.
-- Notifies: qwf_events.
-- Called by: _apply_answer, _expand_map, _expire_inputs, _fail_unresolved, _insert_elements,
--   _map_verdict, _open_node, _write_reports.

begin;

create function _qwf.announce_trouble(p_jobs bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
begin
  if (select s.notify_events from qwf.settings s) then
    perform pg_notify('qwf_events', jsonb_strip_nulls(jsonb_build_object(
      'event', case j.status when 'failed' then 'job_failed' else 'input_asked' end,
      'job_id', j.id, 'run_id', j.run_id, 'node_id', j.node_id, 'task', j.task,
      'queue', j.queue, 'project', left(j.project, 200),
      'error', left(split_part(j.last_error, E'\n', 1), 500),
      'prompt', case when j.status = 'awaiting_input'
        then left(j.input_spec ->> 'prompt', 500) end))::text)
    from unnest(p_jobs) p (id) join qwf.jobs j on j.id = p.id
    where j.status::text in ('failed', 'awaiting_input');  -- not so as to use an index of them
  end if;
end $$;

commit;
