-- Deploy qwf:functions/questions/_take_answer
-- Purpose: Takes an answer: checks it, keeps it, and lets its job go on.
-- Guarantees: An answer that does not fit changes nothing.
-- Locks: expects the job's run locked by the caller, or the job where it has none.
-- Notifies: sleepers of the queues that got work.
-- Raises: QW002 not waiting for an answer (any more), QW005 a value that does not fit.
-- Called by: submit_input, answer_job.

begin;

create function _qwf.take_answer(p_job qwf.jobs, p_value jsonb, p_by text) returns bigint
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
        when p_job.status = 'awaiting_input' then 'nothing is left to decide it for'
        else 'not waiting for an answer'
      end,
      detail = format('%s is %s', coalesce(
        format('node %s of run %s', p_job.node_id, p_job.run_id), 'job ' || p_job.id),
        p_job.status),
      hint = 'see what is asked: select run_id, node_id, job_id, prompt from qwf.pending_inputs';
  end if;
  if octet_length(v_value::text) > (select s.max_value_bytes from qwf.settings s) then
    raise exception using errcode = 'QW005', message = 'answer too large',
      detail = format('%s bytes', octet_length(v_value::text)),
      hint = 'put large data in a file and answer with where it is';
  end if;
  perform _qwf.raise_problems('QW005', 'the answer does not fit the question',
    array(select p from _qwf.answer_problems(p_job.input_spec, v_value) p));
  return _qwf.apply_answer(p_job, v_value, coalesce(p_by, session_user));
end $$;

commit;
