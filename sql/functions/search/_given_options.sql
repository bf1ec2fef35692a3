-- Deploy qwf:functions/search/_given_options
-- Purpose: Returns the options that jobs, schedules and nodes were given, without those that have
--   their defaults.
-- Guarantees: Of one job, one schedule or one workflow; or of all enabled schedules, all current
--   workflows and the standalone jobs that have not ended among the newest 1,000 jobs. Jobs of a
--   schedule and of a run are left out: theirs come from the schedule and the node. A node without
--   a queue has queue cpu, so it counts as not given. The plan is pinned: however many jobs wait
--   and however old the statistics are, it reads the newest 1,000.
-- Called by: find_missing_options.

begin;

create function _qwf.given_options(p_job bigint, p_schedule text, p_workflow text)
returns setof _qwf.given_options
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
declare
  v_all boolean := num_nonnulls(p_job, p_schedule, p_workflow) = 0;
begin
  return query
  select 'job', j.id::text, j.task, j.queue, jsonb_strip_nulls(jsonb_build_object(
      'queue', nullif(j.queue, 'default'), 'priority', nullif(j.priority, 100),
      'project', nullif(j.project, ''), 'max_attempts', (j.options).max_attempts,
      'max_losses', (j.options).max_losses, 'backoff', (j.options).backoff,
      'timeout', (j.options).timeout, 'labels', nullif(j.labels, '{}'), 'model', j.required_model,
      'light', nullif(j.light, false), 'vram_mb', j.vram_mb, 'requires', nullif(j.requires, '{}'),
      'limit_by', j.limit_by, 'on_failure', nullif(j.on_failure, 'fail'),
      'expires', j.expires_at, 'at_most_once', nullif(j.begun is not null, false))), null::text[]
  from (
    (select k.* from qwf.jobs k where v_all order by k.id desc limit 1000)
    union all
    select k.* from qwf.jobs k where k.id = p_job
  ) j
  where j.run_id is null and j.schedule is null and j.status in ('scheduled', 'queued', 'running');
  return query
  select 'schedule', s.name, s.task, s.queue, jsonb_strip_nulls(jsonb_build_object(
      'queue', nullif(s.queue, 'default'), 'priority', nullif(s.priority, 100),
      'project', nullif(s.project, '')) || s.options), null::text[]
  from qwf.schedules s
  where s.task is not null and (v_all and s.enabled or s.name = p_schedule);
  return query
  select 'node', w.name || ' ' || n.node_id, n.task, n.queue,
    jsonb_strip_nulls(jsonb_build_object(
      'queue', nullif(n.queue, 'cpu'), 'max_attempts', (n.options).max_attempts,
      'max_losses', (n.options).max_losses, 'backoff', (n.options).backoff,
      'timeout', (n.options).timeout, 'model', n.required_model, 'light', nullif(n.light, false),
      'vram_mb', n.vram_mb, 'requires', nullif(n.requires, '{}'), 'limit_by', n.limit_by,
      'on_failure', nullif(n.on_failure, 'fail'),
      'at_most_once', nullif(n.at_most_once, false))),
    ('{queue,max_attempts,max_losses,backoff,timeout,model,light,vram_mb,requires,limit_by,'
      'on_failure,at_most_once}')::text[]
  from qwf.workflows w
  join qwf.graphs g on g.workflow_id = w.id and g.pipeline_ids = array(
    select p.id from qwf.pipelines p where p.name = any (w.pipeline_names) and p.current
    order by p.name collate "C")
  join qwf.graph_nodes n on n.graph_id = g.id
  where w.current and n.queue is not null and (v_all or w.name = p_workflow);
end $$;

commit;
