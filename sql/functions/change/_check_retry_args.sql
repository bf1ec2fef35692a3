-- Deploy qwf:functions/change/_check_retry_args
-- Purpose: Refuses new arguments of a job that is retried which enqueue would refuse, and any for a
--   node.
-- Raises: QW005.
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
  elsif jsonb_typeof(p_args) <> 'object' then
    raise exception using errcode = 'QW005', message = 'invalid job',
      detail = 'args: a JSON object',
      hint = 'correct the value and retry again; nothing was written';
  end if;
  perform _qwf.check_json('args', p_args, s.max_value_bytes) from qwf.settings s;
end $$;

commit;
