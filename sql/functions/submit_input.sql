-- Deploy qwf:functions/submit_input
-- requires: schema/jobs
-- requires: schema/history
-- requires: schema/graphs
-- requires: schema/settings
-- requires: functions/_lock_runs
-- requires: functions/_take_events
-- requires: functions/_apply
-- requires: functions/_answer_problems
-- requires: functions/_raise_problems
-- requires: functions/now
-- requires: schema/roles
-- Purpose: Answers a question a run is waiting for, and lets the run go on.
-- Guarantees: The answer, the end of the node and the fan-out are the caller's transaction. Two
--   answers at once: the second waits, then is QW002. While the transaction is open, others leave
--   events of this run in the outbox.
-- Locks: the run, its waiting events, the input's job, jobs that become ready.
-- Notifies: sleepers of the queues that got work.
-- Raises: QW001 no such run or node, QW002 not asked yet or already answered, QW005 a value that
--   does not fit.
-- Called by: people, through psql, qwf answer or an application.

begin;

create function qwf.submit_input(run_id bigint, node_id text, value jsonb, by text default null)
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
  v_job qwf.jobs;
  v_answer bigint;
  v_value jsonb := coalesce(submit_input.value, 'null');
begin
  perform qwf._lock_runs(array[submit_input.run_id], true);
  select j.* into v_job
  from qwf.runs r
  join qwf.graph_nodes n on n.graph_id = r.graph_id and n.node_id = submit_input.node_id
  join qwf.jobs j on j.run_id = r.id and j.node_idx = n.idx
  where r.id = submit_input.run_id and n.input_spec is not null;
  if not found then
    raise exception using errcode = 'QW001', message = 'no such input',
      detail = format('run %s has no input %L', submit_input.run_id, submit_input.node_id),
      hint = 'see what is asked: select run_id, node_id, prompt from qwf.pending_inputs';
  elsif v_job.status <> 'awaiting_input' then
    raise exception using errcode = 'QW002',
      message = case v_job.status
        when 'blocked' then 'not asked yet'
        when 'completed' then 'already answered'
        else 'not waiting for an answer'
      end,
      detail = format('input %s of run %s is %s', v_job.node_id, v_job.run_id, v_job.status),
      hint = 'see what is asked: select run_id, node_id, prompt from qwf.pending_inputs';
  end if;
  if octet_length(v_value::text) > (select s.max_value_bytes from qwf.settings s) then
    raise exception using errcode = 'QW005', message = 'answer too large',
      detail = format('%s bytes', octet_length(v_value::text)),
      hint = 'put large data in a file and answer with where it is';
  end if;
  perform qwf._raise_problems('QW005', 'the answer does not fit the question',
    array(select p from qwf._answer_problems(v_job.input_spec, v_value) p));
  insert into qwf.input_answers (job_id, run_id, node_id, value, answered_by, answered_at)
  values (
    v_job.id, v_job.run_id, v_job.node_id, v_value,
    coalesce(submit_input.by, session_user), v_now)
  returning id into v_answer;
  update qwf.jobs j set
    status = 'completed', finished_at = v_now,
    output = jsonb_build_object(coalesce(j.input_spec ->> 'target', 'value'), v_value)
  where j.id = v_job.id;
  perform qwf._apply(
    qwf._take_events(array[v_job.run_id])
    || array[(v_job.run_id, v_job.id, 'answered')::qwf.event]);
  return v_answer;
end $$;
comment on function qwf.submit_input(bigint, text, jsonb, text) is
  'Answers an input node and resumes the run; returns the id of the answer. QW001 no such input, '
  'QW002 not asked yet or already answered, QW005 a value that does not fit.';
revoke all on function qwf.submit_input(bigint, text, jsonb, text) from public;
call qwf._allow('qwf.submit_input(bigint, text, jsonb, text)', 'qwf_producer');

commit;
