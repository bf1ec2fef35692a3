-- Deploy qwf:functions/questions/submit_input
-- Purpose: Answers a question that a run waits for, and lets the run continue: answer_job, by the
--   name of the node.
-- Guarantees: The answer, the end of the node and the fan-out are in the transaction of the caller.
--   Of two answers at once, the second waits and then gets QW002. While the transaction is open,
--   others leave events of this run in the outbox.
-- Locks: as answer_job.
-- Notifies: sleepers of the queues that got work.
-- Called by: people, through psql, qwf answer or an application.

begin;

create function qwf.submit_input(
  run_id bigint, node_id text, value jsonb, acting_for text default null)
returns bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_job bigint;
begin
  select j.id into v_job
  from qwf.jobs j
  where j.run_id = submit_input.run_id and j.node_id = submit_input.node_id
    and (j.queue is null or j.on_failure = 'ask');
  if not found then
    raise exception using errcode = 'QW001', message = 'no such input',
      detail = format('run %s has no input %L', submit_input.run_id,
        left(submit_input.node_id, 200)),
      hint = coalesce(
        _qwf.did_you_mean(submit_input.node_id, array(
          select n.node_id
          from qwf.runs r join qwf.graph_nodes n on n.graph_id = r.graph_id
          where r.id = submit_input.run_id and (n.queue is null or n.on_failure = 'ask'))),
        format('see what the run waits for: select qwf.run_status(%s)', submit_input.run_id));
  end if;
  return qwf.answer_job(v_job, submit_input.value, submit_input.acting_for);
end $$;
comment on function qwf.submit_input is
  'Answers an input node, or decides about a failed node (retry, skip, abort), and resumes the '
  'run; returns the id of the answer. QW001 no such input, QW002 not asked yet or already '
  'answered, QW005 the value does not fit.';
call _qwf.allow('qwf.submit_input', 'qwf_producer');

commit;
