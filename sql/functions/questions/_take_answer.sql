-- Deploy qwf:functions/questions/_take_answer
-- Purpose: Takes an answer: checks it, records it, and lets the job continue.
-- Guarantees: A refused answer changes nothing.
-- Locks: expects the run of the job locked by the caller, or the job if it has no run.
-- Notifies: sleepers of the queues that got work.
-- Raises: QW002 for a job that does not wait for an answer (any more), QW005 for a value that does
--   not fit.
-- Called by: answer_job.

begin;

create function _qwf.take_answer(p_job qwf.jobs, p_value jsonb) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_value jsonb := coalesce(p_value, 'null');
begin
  if p_job.status is distinct from 'awaiting_input'
    or _qwf.is_obsolete(p_job.run_id, p_job.run_if, p_job.parent_id)
  then
    raise exception using errcode = 'QW002',
      message = case
        when p_job.status = 'blocked' then 'not asked yet'
        when p_job.status = 'completed' and p_job.queue is null then 'already answered'
        when p_job.status = 'awaiting_input' then 'the run or map is over'
        else 'not waiting for an answer'
      end,
      detail = format('%s is %s', case when p_job.run_id is null then 'job ' || p_job.id
        else format('node %s of run %s', p_job.node_id, p_job.run_id) end, p_job.status),
      hint = case when p_job.run_id is null
        then format('see what became of it: select qwf.result(%s)', p_job.id)
        else format('see what the run waits for: select qwf.run_status(%s)', p_job.run_id) end;
  end if;
  perform _qwf.check_json('value', v_value, (select s.max_value_bytes from qwf.settings s));
  perform _qwf.raise_problems('QW005', 'the answer does not fit the question',
    array(select p from _qwf.answer_problems(p_job.input_spec, v_value) p));
  return _qwf.apply_answer(p_job, v_value, false);
end $$;

commit;
