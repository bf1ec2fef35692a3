-- Deploy qwf:functions/change/_check_retry_args
-- Purpose: Refuses new arguments of a job that is retried which enqueue would refuse, and any for a
--   node and for a job of the engine: a message of an alert says what the engine wrote.
-- Raises: QW005, QW007.
-- Called by: retry_job.

begin;

create function _qwf.check_retry_args(p_job qwf.jobs, p_args jsonb) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_args is null then
    return;
  elsif p_job.run_id is not null then
    raise exception using errcode = 'QW005',
      message = 'a node takes its inputs from its workflow',
      detail = format('job %s is node %s of run %s', p_job.id, p_job.node_id, p_job.run_id),
      hint = 'leave args out, or enqueue a new run with another context';
  elsif starts_with(p_job.task, 'qwf.') or starts_with(p_job.queue, 'qwf.') then
    raise exception using errcode = 'QW007', message = 'a job of the engine keeps its arguments',
      detail = format('job %s is of task %s', p_job.id, p_job.task), hint = 'leave args out';
  elsif jsonb_typeof(p_args) <> 'object' then
    raise exception using errcode = 'QW005', message = 'invalid job',
      detail = 'args: a JSON object',
      hint = 'correct the value and retry again; nothing was written';
  end if;
  perform _qwf.check_json('args', p_args, s.max_value_bytes) from qwf.settings s;
end $$;

commit;
