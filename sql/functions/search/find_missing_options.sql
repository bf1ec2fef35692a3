-- Deploy qwf:functions/search/find_missing_options
-- Purpose: Finds jobs, schedules and nodes without an option that the code of their task declares.
--   Such an option counts only for jobs that Python enqueues.
-- Guarantees: Only a look: what has been enqueued keeps its options. Each task has the options that
--   the newest worker with this task announced. Without an argument it looks at all enabled
--   schedules, all current workflows and the newest 1,000 jobs; else at what is named, however many
--   others there are.
-- Called by: people, qwf enqueue, qwf schedule add, qwf apply, qwf doctor.

begin;

create function qwf.find_missing_options(
  job_id bigint default null, schedule text default null, workflow text default null)
returns setof qwf.missing_option
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
#variable_conflict use_column
begin
  return query
  with announced (task, options) as (
    select distinct on (t.name) t.name, w.task_options -> t.name
    from qwf.workers w
    cross join lateral unnest(w.tasks) t (name)
    order by t.name, w.started_at desc, w.id
  )
  select distinct g.kind, g.name, g.task, o.key, o.value, format('task %L declares %s %s in its '
      'code, which counts only for jobs from Python', g.task, o.key, o.value),
    _qwf.option_advice(g.kind, o.key, o.value)
  from announced a
  join _qwf.given_options(
    find_missing_options.job_id, find_missing_options.schedule,
    find_missing_options.workflow) g on g.task = a.task
  cross join lateral jsonb_each_text(a.options) o
  where not g.options ? o.key
    and (g.possible is null or o.key = any (g.possible))
    and not (o.key = 'queue' and o.value = g.queue)
  order by 1, 2, 4;
end $$;
comment on function qwf.find_missing_options is
  'Finds what lacks an option that the code of its task declares: the named job, schedule or '
  'workflow; without an argument every enabled schedule, every current workflow and the jobs that '
  'have not ended among the newest 1,000. Options of @app.task count only for jobs from Python.';
call _qwf.allow('qwf.find_missing_options', 'qwf_viewer');

commit;
