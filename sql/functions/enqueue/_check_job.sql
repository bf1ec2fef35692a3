-- Deploy qwf:functions/enqueue/_check_job
-- Purpose: Refuses a standalone job that could not run.
-- Guarantees: Finds every invalid argument of enqueue before a row is written.
-- Raises: QW005 for a bad value, QW001 for an unknown limit, QW007 for a task of the engine.
-- Called by: enqueue, enqueue_many, _option_problems.

begin;

create function _qwf.check_job(p_job _qwf.new_job, p_where text, p_max_bytes int) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_problem text := _qwf.job_problem(p_job);
begin
  if starts_with(p_job.task, 'qwf.') then
    perform _qwf.refuse_engine_name(p_where || 'task', p_job.task);
  end if;
  if v_problem is not null then
    raise exception using errcode = 'QW005', message = 'invalid job', detail = p_where || v_problem,
      hint = 'correct the value and enqueue again; nothing was written';
  end if;
  if p_job.limit_by is not null then
    perform _qwf.check_limit(p_where, p_job.limit_by);
  end if;
  if not _qwf.is_small_job(p_job, p_max_bytes) then
    perform _qwf.check_json(p_where || 'args', p_job.args, p_max_bytes),
      _qwf.check_json(p_where || 'requires', p_job.requires),
      _qwf.check_json(p_where || 'labels', p_job.labels);
  end if;
end $$;

commit;
