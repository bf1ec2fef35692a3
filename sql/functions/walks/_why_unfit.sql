-- Deploy qwf:functions/walks/_why_unfit
-- Purpose: Returns what keeps the live workers of a queue from taking a job, the nearest miss
--   first.
-- Guarantees: Looks at 100 workers: those that lack least, by a count that is quick to make.
-- Called by: _judge_unassignable, _why_unclaimed.

begin;

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

commit;
