-- Deploy qwf:functions/answers/_complete_with_signal
-- Purpose: Completes input steps with a signal that fits their questions.
-- Guarantees: The answer names who has sent the signal, also if a tick gives it. Leaves the
--   consequences for the run to the caller.
-- Locks: expects the runs of the jobs locked by the caller.
-- Called by: _apply_signal, _take_kept_signal.

begin;

create function _qwf.complete_with_signal(p_jobs bigint[], p_signal qwf.signals) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
begin
  delete from qwf.waits w where w.job_id = any (p_jobs);
  with done as (
    update qwf.jobs j set
      status = 'completed', finished_at = v_now, expires_at = null,
      output = jsonb_build_object(coalesce(j.input_spec ->> 'target', 'value'),
        _qwf.chosen(j.input_spec, p_signal.payload))
    where j.id = any (p_jobs)
    returning j.id, j.run_id, j.node_id, j.output
  ), answer as (
    insert into qwf.input_answers (
      job_id, run_id, node_id, value, answered_at, login, acting_for)
    select d.id, d.run_id, d.node_id, v.value, v_now, p_signal.login, p_signal.acting_for
    from done d cross join lateral jsonb_each(d.output) v
    order by d.id
    returning id, job_id, run_id
  )
  insert into _qwf.event_log (at, run_id, job_id, kind, detail)
  select v_now, a.run_id, a.job_id, 'question_answered', jsonb_build_object(
    'answer_id', a.id, 'job', 'answered', 'signal', p_signal.name)
  from answer a;
end $$;

commit;
