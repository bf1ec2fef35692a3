-- Deploy qwf:functions/questions/_apply_answer
-- Purpose: Applies a valid answer: an input completes with it, or with the option that it names; a
--   job that may have run completes with the output of the answer has_run; a failed job is
--   retried with fresh budgets, skipped, or failed for good. A retry while
--   a newer job of its key has not ended cancels it instead, and a notice says so.
-- Locks: expects the run of the job locked by the caller, or the job if it has no run.
-- Notifies: sleepers of the queues that got work.
-- Called by: _expire_inputs, answer_job.

begin;

create function _qwf.apply_answer(p_job qwf.jobs, p_value jsonb, p_by_default boolean)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_kind text := case
    when p_job.queue is null then 'answered'
    when p_value in ('"retry"', '"has_not"') then 'retried'
    when p_value = '"has_run"' or p_value ? 'has_run' then 'answered'
    when p_value = '"skip"' then 'passed'
    else 'aborted' end;
  v_value jsonb := _qwf.chosen(p_job.input_spec, p_value);
  v_answer bigint;
begin
  if v_kind = 'retried' and not _qwf.key_is_free(p_job) then
    v_kind := 'superseded';
  end if;
  insert into qwf.input_answers (job_id, run_id, node_id, value, by_default, answered_at)
  values (p_job.id, p_job.run_id, p_job.node_id, v_value, p_by_default, v_now)
  returning id into v_answer;
  update qwf.jobs j set
    status = case v_kind when 'answered' then 'completed' when 'retried' then 'queued'
      when 'passed' then 'skipped' when 'superseded' then 'cancelled'
      else 'failed' end::qwf.job_status,
    output = case when v_kind = 'answered'
      then case when j.queue is null
        then jsonb_build_object(coalesce(j.input_spec ->> 'target', 'value'), v_value)
        else coalesce(p_value -> 'has_run', '{}') end end,
    begun = case when v_kind = 'retried' and j.begun then false else j.begun end,
    finished_at = case when v_kind <> 'retried' then v_now end, expires_at = null,
    retries = j.retries + (v_kind = 'retried')::int,
    failures = case when v_kind = 'retried' then 0 else j.failures end,
    losses = case when v_kind = 'retried' then 0 else j.losses end,
    queued_at = case when v_kind = 'retried' then v_now else j.queued_at end,
    position = case when v_kind = 'retried' then _qwf.next_position() else j.position end,
    last_error = case when v_kind = 'superseded'
      then 'superseded by a newer job of its key' || coalesce(': ' || j.last_error, '')
      else j.last_error end,
    input_spec = case when v_kind <> 'retried' then j.input_spec end
  where j.id = p_job.id;
  delete from qwf.waits w where w.job_id = p_job.id;
  insert into _qwf.event_log (at, run_id, job_id, kind, detail)
  values (v_now, p_job.run_id, p_job.id, 'question_answered',
    jsonb_build_object('answer_id', v_answer, 'job', v_kind));
  if v_kind = 'retried' then
    perform _qwf.wake(p_job.queue, 1);
  elsif v_kind = 'aborted' then
    perform _qwf.announce_trouble(array[p_job.id]);
  elsif v_kind = 'superseded' then
    raise notice using message = format('job %s does not run again', p_job.id),
      hint = 'a newer job of its key has not ended: the older one is cancelled';
  end if;
  if p_job.run_id is not null then
    perform _qwf.apply_events(
      _qwf.take_events(array[p_job.run_id])
      || array[(p_job.run_id, p_job.id, v_kind)::_qwf.event]);
  end if;
  return v_answer;
end $$;

commit;
