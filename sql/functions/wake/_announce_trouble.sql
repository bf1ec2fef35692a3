-- Deploy qwf:functions/wake/_announce_trouble
-- Purpose: Writes the events of jobs that failed for good or ask a person.
-- Guarantees: Skips those of the jobs that have neither failed nor ask, and nodes and runs in line
--   that failed: the end of the run tells. Every function that gives a job one of these states
--   calls it: a trigger would cost every claim and every finish.
-- Called by: _apply_answer, _expand_map, _expire_inputs, _fail_unresolved, _insert_elements,
--   _map_verdict, _next_turn, _open_node, _end_attempts.

begin;

create function _qwf.announce_trouble(p_jobs bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
begin
  insert into _qwf.event_log (at, run_id, job_id, kind, detail)
  select qwf.now(), j.run_id, j.id,
    case j.status when 'failed' then 'job_failed' else 'question_asked' end,
    jsonb_strip_nulls(case j.status
      when 'failed' then jsonb_build_object(
        'error', left(_qwf.error_line(j.last_error), 500),
        'reason', left(a.detail ->> 'reason', 500),
        'attempt', nullif(j.attempt, 0))
      else jsonb_build_object(
        'prompt', left(j.input_spec ->> 'prompt', 500),
        'expires_at', case when j.queue is null then j.expires_at end) end)
  from unnest(p_jobs) p (id) join qwf.jobs j on j.id = p.id
  left join qwf.job_attempts a on a.job_id = j.id and a.attempt = j.attempt
  where (j.status::text = 'awaiting_input' and j.input_spec ? 'widget')  -- text: not by an index
    or (j.status::text = 'failed' and j.run_id is null and j.queue <> 'qwf.runs');
end $$;

commit;
