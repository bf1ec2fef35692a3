-- Deploy qwf:functions/walks/_can_run
-- Purpose: True when a worker can run a job, by project, task, model, memory and labels.
-- Guarantees: A task that is held back is run by nobody, but for a job that comes next. What a
--   worker has not announced does not filter, except labels, which it must have. One expression
--   without a pinned search_path, so that the planner inlines it into every walk.
-- Called by: _find_floor, _fits, _another_host_can, _judge_unassignable, find_unassignable.

begin;

create function _qwf.can_run(p_job qwf.jobs, p_worker qwf.workers) returns boolean
language sql stable
as $$
  select (p_worker.held_tasks is null or p_job.run_next or p_job.task <> all (p_worker.held_tasks))
    and (p_worker.project is null or p_job.project = p_worker.project)
    and (p_worker.tasks is null or p_job.task = any (p_worker.tasks))
    and (p_job.required_model is null or p_worker.models is null
      or p_job.required_model = any (p_worker.models))
    and (p_job.vram_mb is null or p_worker.vram_mb is null or p_job.vram_mb <= p_worker.vram_mb)
    and (p_job.requires = '{}' or coalesce(p_worker.labels, '{}') @> p_job.requires)
$$;

commit;
