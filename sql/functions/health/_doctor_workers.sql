-- Deploy qwf:functions/health/_doctor_workers
-- Purpose: Finds workers that are gone, switched off, withdrawn, without a task or model that they
--   should have, or not of this version.
-- Called by: _doctor_findings.

begin;

create function _qwf.doctor_workers() returns setof _qwf.finding
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select * from _qwf.first_few(array(
    select row('problem', 'worker ' || d.worker,
      format('worker %s has been silent for %s%s', d.worker,
        _qwf.spell_duration(date_trunc('second', d.last_seen)),
        case when d.running > 0 then ' and holds ' || _qwf.counted(d.running, 'job') end),
      format('look at box %s: systemctl status ''qwf-agent@*''; if it is gone for good, it is '
        'forgotten after a day, or now: qwf worker forget %s', d.host, d.worker))::_qwf.finding
    from qwf.worker_overview d
    where d.state = 'dead'
    order by d.worker));
  return query
  select 'note', 'box ' || o.host, format('%s %s is switched off by %s%s', o.host, o.queue,
      _qwf.spell_who(o.login, o.acting_for), ': ' || nullif(o.reason, '')),
    format('qwf worker on --host %1$s --queue %2$s; if the box is gone for good: qwf worker forget '
      '--host %1$s --all', o.host, o.queue)
  from qwf.switched_off o
  where not exists (select from qwf.workers w where w.id = o.acting_for and w.host = o.host)
  order by o.host, o.queue;
  return query  -- by its own workers
  select 'problem', 'box ' || o.host, format('%s has withdrawn from %s: %s', o.host,
      string_agg(distinct o.queue, ', ' order by o.queue), o.reason),
    format('mend it, then: qwf worker on --host %s --all; by itself it tries again at %s', o.host,
      _qwf.spell_moment(max(o.until)))
  from qwf.switched_off o
  join qwf.workers w on w.id = o.acting_for and w.host = o.host
  group by o.host, o.reason
  order by o.host, o.reason;
  return query
  select * from _qwf.first_few(array(
    select row('problem', 'worker ' || f.worker, format('worker %s takes no jobs of %s: %s',
        f.worker, d.key, left(d.value #>> '{}', 300)),
      format('mend it on box %s: the agent tries again after five minutes, and when its code '
        'changes', f.host))::_qwf.finding
    from qwf.worker_overview f
    join qwf.workers w on w.id = f.worker
    cross join lateral jsonb_each(case when jsonb_typeof(w.stats -> 'withdrawn') = 'object'
      then w.stats -> 'withdrawn' else '{}' end) d
    where f.state not in ('dead', 'stopped')
    order by f.worker, d.key));
  return query
  select * from _qwf.first_few(array(
    select row('problem', 'worker ' || f.worker, format('worker %s keeps running old code, because '
        'its new code cannot be imported: %s', f.worker, w.stats ->> 'code_problem'),
      format('mend the code on box %s: the agent tries again by itself', f.host))::_qwf.finding
    from qwf.worker_overview f
    join qwf.workers w on w.id = f.worker
    where f.state not in ('dead', 'stopped') and w.stats ? 'code_problem'
    order by f.worker));
  return query
  select 'note', 'version ' || f.version, format('version %s runs on %s; the schema is %s',
      f.version, string_agg(distinct f.host, ', ' order by f.host), qwf.version()),
    'upgrade them one box at a time: docs/operations.md, Upgrade'
  from qwf.worker_overview f
  where f.state not in ('dead', 'stopped') and f.version <> qwf.version()
  group by f.version
  order by f.version;
end $$;

commit;
