-- Deploy qwf:functions/health/_doctor_queues
-- Purpose: Finds queued jobs that no worker can take, limits that are held or that their
--   holders wait for, and queues whose limits make claims slow.
-- Called by: _doctor_findings.

begin;

create function _qwf.doctor_queues() returns setof _qwf.finding
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select case when d.paused or o.hosts <> '{}' then 'note' else 'problem' end, 'queue ' || d.queue,
    case
      when d.paused then format('queue %s is paused and %s', d.queue, w.waits)
      when o.hosts <> '{}' then format('queue %s: %s and its workers are switched off (%s)',
        d.queue, w.waits, array_to_string(o.hosts, ', '))
      else format('queue %s: %s, the oldest for %s, and no live worker serves it', d.queue, w.waits,
        _qwf.spell_duration(d.oldest_wait)) end,
    case
      when d.paused then 'qwf queue resume ' || d.queue
      when o.hosts <> '{}'
        then format('qwf worker on --host %s --queue %s', o.hosts[1], d.queue)
      else format('qwf agent --queue %s --nodes PACKAGE (or --app); or: qwf workers --all',
        d.queue) end
  from qwf.queue_overview d
  cross join lateral (
    select array(select distinct f.host from qwf.worker_overview f
      where f.queue = d.queue and f.state in ('off', 'draining') order by f.host) as hosts) o
  cross join lateral (
    select case when d.estimated then 'about ' else '' end || _qwf.counted(d.queued, 'job')
      || case when d.queued = 1 then ' waits' else ' wait' end as waits) w
  where d.queued > 0 and (d.paused or d.workers = 0)
  order by d.queue;
  return query
  select * from _qwf.first_few(array(
    select row('problem', 'job ' || j.id, format('no live worker can take job %s (%s, queue %s)',
      j.id, j.task, j.queue), format('qwf why %s', j.id))::_qwf.finding
    from qwf.find_unassignable() j));
  return query
  select 'problem', 'limit ' || l.name,
    format('all that hold limit %s wait for a place of it: %s', l.name, s.why),
    'cancel one of these runs, or let one more of its jobs run: qwf limit create NAME N'
  from (
    select distinct j.limit_by as name from qwf.jobs j
    where j.status = 'running' and j.claimed_by = 'qwf.engine' and j.limit_by is not null) l
  cross join lateral (select _qwf.why_stuck(l.name) as why offset 0) s
  where s.why is not null
  order by l.name;
  return query
  select * from _qwf.first_few(array(
    select row('note', 'limit ' || h.name, format('limit %s is held until %s, by %s', h.name,
        _qwf.spell_moment(h.until), coalesce('job ' || h.job_id, quote_ident(h.login))),
      case when l.name = h.name then format('to end it: qwf limit hold %s --end', h.name)
        else format('to end it: qwf limit hold %s --key %s --end', l.name,
          quote_literal(substr(h.name, length(l.name) + 2))) end)::_qwf.finding
    from qwf.limit_holds h
    join qwf.limits l on l.name in (h.name, split_part(h.name, ':', 1))
    where h.until > qwf.now()
      and (l.name = h.name or not exists (select from qwf.limits o where o.name = h.name))
    order by h.name limit 100));
  return query
  select 'note', 'queue ' || q.name,
    format('jobs of more than 50 limits wait in queue %s: each claim looks at all of them', q.name),
    'limits of one kind are one limit that counts by key: qwf limit create NAME N --keyed'
  from qwf.queues q
  where _qwf.waiting_limits(q.name, 51) > 50
  order by q.name;
end $$;

commit;
