-- Deploy qwf:functions/questions/answer_job
-- Purpose: Answers the question of a job by its id, which is the only way for standalone jobs.
-- Guarantees: As submit_input.
-- Locks: the run, or the job if it has none; then as submit_input.
-- Notifies: sleepers of the queues that got work.
-- Raises: QW001 for an unknown job, QW002 for a job that does not wait for an answer, QW005 for a
--   value that does not fit.
-- Called by: people, through psql, qwf answer or an application.

begin;

create function qwf.answer_job(job_id bigint, value jsonb, by text default null) returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_job qwf.jobs;
begin
  select j.* into v_job from qwf.jobs j where j.id = answer_job.job_id;
  if not found then
    perform _qwf.raise_no_such_job(answer_job.job_id);
  elsif v_job.run_id is not null then
    perform _qwf.lock_runs(array[v_job.run_id], true);
    select j.* into v_job from qwf.jobs j where j.id = answer_job.job_id;
    if not found then  -- a retry of its map has deleted it
      perform _qwf.raise_no_such_job(answer_job.job_id);
    end if;
  elsif v_job.status = 'awaiting_input' then
    select j.* into v_job from qwf.jobs j where j.id = answer_job.job_id for no key update;
  end if;
  return _qwf.take_answer(v_job, answer_job.value, answer_job.by);
end $$;
comment on function qwf.answer_job is
  'Answers the question of a job: of an input, or what to do about a failure (retry, skip, abort); '
  'returns the id of the answer. QW001 no such job, QW002 the job does not wait for an answer, '
  'QW005 the value does not fit.';
call _qwf.allow('qwf.answer_job', 'qwf_producer');

commit;
