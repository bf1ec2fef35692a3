-- Deploy qwf:functions/questions/answer_job
-- Purpose: Answers the question of a job by its id, which is the only way for standalone jobs.
-- Guarantees: The answer and all that follows from it are in the transaction of the caller. Of two
--   answers at once, the second waits and then gets QW002. With `asked`, only the question of that
--   time is answered: what was meant for it is never taken for an answer to a later question of the
--   same job.
-- Locks: the run, its waiting events, the job, jobs that become ready; of a standalone job only the
--   job.
-- Notifies: sleepers of the queues that got work.
-- Called by: people, through psql, qwf answer, qwf web or an application; submit_input.

begin;

create function qwf.answer_job(
  job_id bigint, value jsonb, acting_for text default null, asked timestamptz default null
) returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_before constant text := _qwf.act_for(answer_job.acting_for);
  v_value constant jsonb := coalesce(answer_job.value, 'null');
  v_job qwf.jobs;
  v_answer bigint;
begin
  select j.* into v_job from qwf.jobs j where j.id = answer_job.job_id;
  if not found then
    perform _qwf.raise_no_such_job(answer_job.job_id);
  elsif v_job.run_id is not null then
    perform _qwf.lock_runs(array[v_job.run_id]);
    select j.* into v_job from qwf.jobs j where j.id = answer_job.job_id;
    if not found then  -- a retry of its map has deleted it
      perform _qwf.raise_no_such_job(answer_job.job_id);
    end if;
  elsif v_job.status = 'awaiting_input' then
    select j.* into v_job from qwf.jobs j where j.id = answer_job.job_id for no key update;
  end if;
  if v_job.status = 'awaiting_input'
    and date_trunc('milliseconds', coalesce(v_job.queued_at, v_job.created_at))
      <> date_trunc('milliseconds', answer_job.asked)
  then
    raise exception using errcode = 'QW002', message = 'the job asks again',
      detail = format('job %s asked at %s, and again at %s',
        v_job.id, answer_job.asked, coalesce(v_job.queued_at, v_job.created_at)),
      hint = format('read the new question: select * from qwf.why_not(%s)', v_job.id);
  end if;
  if v_job.status is distinct from 'awaiting_input'
    or _qwf.is_obsolete(v_job.run_id, v_job.run_if, v_job.parent_id)
  then
    raise exception using errcode = 'QW002',
      message = case
        when v_job.status = 'blocked' then 'not asked yet'
        when v_job.status = 'completed' and v_job.queue is null then 'already answered'
        when v_job.status = 'awaiting_input' then 'the run or map is over'
        else 'not waiting for an answer'
      end,
      detail = format('%s is %s', case when v_job.run_id is null then 'job ' || v_job.id
        else format('node %s of run %s', v_job.node_id, v_job.run_id) end, v_job.status),
      hint = case when v_job.run_id is null
        then format('see what became of it: select qwf.result(%s)', v_job.id)
        else format('see what the run waits for: select qwf.run_status(%s)', v_job.run_id) end;
  end if;
  perform _qwf.check_json('value', v_value, (select s.max_value_bytes from qwf.settings s));
  perform _qwf.raise_problems('QW005', 'the answer does not fit the question',
    array(select p from _qwf.answer_problems(v_job.input_spec, v_value) p));
  v_answer := _qwf.apply_answer(v_job, v_value, false);
  perform set_config('qwf.acting_for', v_before, true);
  return v_answer;
end $$;
comment on function qwf.answer_job is
  'Answers the question of a job: of an input, or what to do about a failure (retry, skip, abort); '
  'returns the id of the answer. asked, column since of pending_inputs, names the question: if the '
  'job asks again since then, the answer is refused. QW001 no such job, QW002 the job does not '
  'wait for an answer or asks again, QW005 the value does not fit.';
call _qwf.allow('qwf.answer_job', 'qwf_producer');

commit;
