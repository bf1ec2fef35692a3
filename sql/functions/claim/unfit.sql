-- Reasons why a worker cannot take a job, in words. They say no exactly where the filter of
-- claims does.

-- Returns what keeps the live workers of a queue from taking a job, the nearest miss first.
-- Looks at 100 workers: those that lack least, by a count that is quick to make.
create function _qwf.why_unfit(p_job qwf.jobs, p_now timestamptz)
returns table (worker text, reasons text[])
language sql stable
as $$
  with off as materialized (
    select o.host from qwf.switched_off o where o.queue = p_job.queue
  ), nearest as materialized (
    select w as row
    from qwf.workers w cross join qwf.settings s
    where w.queue = p_job.queue and w.stopped_at is null and w.last_seen > p_now - s.worker_stale
    order by coalesce((w.project <> p_job.project)::int, 0)
      + coalesce((not p_job.task = any (w.tasks))::int, 0)
      + coalesce((not p_job.required_model = any (w.models))::int, 0)
      + coalesce((p_job.vram_mb > w.vram_mb)::int, 0)
      + (p_job.requires <> '{}' and not coalesce(w.labels, '{}') @> p_job.requires)::int
      + coalesce((p_job.avoid_host = w.host and p_job.avoid_until > p_now)::int, 0)
      + (w.host in (select off.host from off))::int, w.host, w.id
    limit 100
  )
  select (n.row).id, m.reasons
  from nearest n
  cross join lateral (
    select _qwf.why_unfit_for(p_job, n.row, p_now) || array(
      select format('%s is switched off (%s) by %s%s%s', o.host, o.stop_policy,
        _qwf.spell_who(o.login, o.acting_for),
        coalesce(' until ' || o.until, ''), coalesce(', because: ' || o.reason, ''))
      from qwf.switched_off o
      where o.host = (n.row).host and o.queue = p_job.queue) as reasons
  ) m
  order by cardinality(m.reasons), (n.row).host, (n.row).id
$$;

-- Returns what keeps a worker from taking a job: the filter of claim, in words. Empty exactly
-- when _fits is true.
create function _qwf.why_unfit_for(p_job qwf.jobs, p_worker qwf.workers, p_now timestamptz)
returns text[]
language sql stable
as $$
  select array_remove(array[
    case when p_job.task = any (p_worker.held_tasks) and not p_job.run_next then
      format('task %s is held back', p_job.task) end,
    case when p_worker.project <> p_job.project then
      format('it works for %s, the job %s',
        coalesce('project ' || nullif(p_worker.project, ''), 'jobs without a project'),
        coalesce('belongs to project ' || nullif(p_job.project, ''), 'has no project')) end,
    case when not p_job.task = any (p_worker.tasks) then
      case when p_job.task = 'command'
        then 'it runs no commands: start an agent with --allow-commands DIR'
        else coalesce(
          format('its code of task %s cannot be imported: ', p_job.task)
            || left(p_worker.stats -> 'withdrawn' ->> ('task ' || p_job.task), 300),
          format('it has no task %s', p_job.task)) end end,
    case when p_job.required_model is not null
      and not p_job.required_model = any (p_worker.models) then
      coalesce((
        select format('its server %s could serve %s, but %s', s.server, p_job.required_model,
          coalesce(left(s.lacks ->> p_job.required_model, 300), 'is ' || s.state
            || coalesce(': ' || left(split_part(s.error, E'\n', 1), 300), '')))
        from qwf.server_overview s
        where s.worker = p_worker.id and p_job.required_model = any (s.models)
        order by s.server
        limit 1), format('it does not know model %s', p_job.required_model)) end,
    case when p_job.vram_mb > p_worker.vram_mb then
      format('it has %s MiB of VRAM, the job needs %s', p_worker.vram_mb, p_job.vram_mb) end,
    case when p_job.requires <> '{}' and not coalesce(p_worker.labels, '{}') @> p_job.requires then
      format('its labels %s lack %s', coalesce(p_worker.labels, '{}'), p_job.requires) end,
    case when p_job.attempt = 0 and p_job.expires_at <= p_now then
      format('the job expired at %s', p_job.expires_at) end,
    case when p_job.avoid_host = p_worker.host and p_job.avoid_until > p_now
      and _qwf.another_host_can(p_job, p_now) then
      format('an attempt on %s did not complete, so the job is left to other hosts until %s',
        p_job.avoid_host, p_job.avoid_until) end,
    case when p_job.key is not null and p_job.key_state <> 's' then
      (select format('the job waits until job %s, which has the same key, has ended', s.id)
      from _qwf.started_with_key(p_job.project, p_job.task, p_job.key, false) s (id)
      where s.id is not null) end
  ], null)
$$;
