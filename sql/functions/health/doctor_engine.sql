-- Checks of the engine: ticks, queues, limits, schedules, events, alerts.

-- Finds work that was due and that no tick has done, events that get no number, and who keeps
-- ticks from giving numbers. Reads what runs and what is due, however many jobs there are and
-- however old the statistics: the plan is pinned. Names a process that has locked the table of
-- numbers for a minute: only ticks and what they call lock it, and they do so until their
-- transaction ends.
create function _qwf.doctor_tick() returns setof _qwf.finding
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_late timestamptz := v_now - interval '1 min';
  v_oldest timestamptz := (
    select e.at from _qwf.event_log e where e.seq is null order by e.id limit 1);
  v_hint constant text := 'start an agent; or on a box without one: qwf tick --loop';
begin
  return query
  select 'problem', null, format('the last tick was %s ago: no due work is done',
    _qwf.spell_duration(v_now - t.at)), v_hint
  from (select to_timestamp(l.last_value / 1000.0) as at from qwf.last_tick l
    where l.last_value > 0) t
  where t.at < v_late;
  return query
  select 'problem', null,
    'leases that expired but were not taken back: ' || _qwf.counted(c.jobs, 'job'), v_hint
  from (select count(*) as jobs from qwf.jobs j
    where j.status = 'running' and j.lease_expires_at < v_late) c
  where c.jobs > 0;
  return query
  select 'problem', null, 'due but not queued: ' || _qwf.counted(c.jobs, 'job'), v_hint
  from (select count(*) as jobs from qwf.jobs j
    where j.status = 'scheduled' and j.finished_at is null and j.run_at < v_late) c
  where c.jobs > 0;
  return query
  select 'problem', 'schedule ' || s.name,
    format('schedule %s was due at %s', s.name, _qwf.spell_moment(s.next_at)), v_hint
  from qwf.schedules s
  where s.next_at < v_late
  order by s.next_at;
  return query
  select 'problem', 'pid ' || a.pid,
    format('%s (%s, pid %s) called tick() and left its transaction open: events get no numbers',
      a.usename, coalesce(nullif(a.application_name, ''), 'no application_name'), a.pid),
    format('let it commit, or: select pg_terminate_backend(%s);', a.pid)
  from pg_stat_activity a
  where a.pid <> pg_backend_pid()
    and coalesce(a.xact_start < v_late, v_oldest < v_late)  -- null: this login may not see it
    and exists (
      select from pg_locks l
      where l.pid = a.pid and l.granted and l.relation = '_qwf.event_numbers'::regclass
        and l.database = (select d.oid from pg_database d where d.datname = current_database())
        and l.mode in ('RowShareLock', 'RowExclusiveLock'))
  order by a.pid;
  if not found and v_oldest < v_late then
    return query
    select 'problem', null,
      format('the oldest event without a number happened %s ago',
        _qwf.spell_duration(v_now - v_oldest)),
      'see what ticks do, and whether they warn: qwf tick';
  end if;
end $$;

-- Finds events that were given up, or that wait to be applied.
create function _qwf.doctor_runs() returns setof _qwf.finding
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := qwf.now();
begin
  return query
  select 'problem', 'run ' || o.run_id, format('run %s: an event could not be applied: %s',
      o.run_id, _qwf.one_line(o.error)),
    format('read the reason, fix it, then: qwf retry run %s', o.run_id)
  from qwf.outbox o
  where o.poisoned_at is not null
  order by o.id
  limit 5;
  return query
  select 'problem', 'run ' || w.run_id,
    format('%s events wait to be applied, the oldest for %s (run %s)', w.events,
      _qwf.spell_duration(v_now - w.since), w.run_id),
    'does an agent tick? Does an open transaction hold the run? qwf tick prints what fails'
  from (
    select count(*) as events, min(o.created_at) as since, min(o.run_id) as run_id
    from qwf.outbox o
    where o.poisoned_at is null and o.created_at < v_now - interval '1 min') w
  where w.events > 0;
end $$;

-- Finds queued jobs that no worker can take, limits that are held or that their holders wait
-- for, and queues whose limits make claims slow.
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

-- Finds schedules that fail, and questions that wait for long.
create function _qwf.doctor_schedules() returns setof _qwf.finding
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select 'problem', 'schedule ' || s.name,
    format('schedule %s could not enqueue: %s', s.name, _qwf.one_line(s.last_error)),
    'correct it: qwf schedule add'
  from qwf.schedules s
  where s.enabled and s.last_error is not null
  order by s.name;
  return query
  select 'note', null, format('%s questions wait, the oldest for %s', q.questions,
    _qwf.spell_duration(q.age)), 'qwf inputs'
  from (
    select count(*) as questions, max(p.age) as age from qwf.pending_inputs p
    where p.age > interval '1 day') q
  where q.questions > 0;
end $$;

-- Finds work that is late: runs, workflows, schedules. Reads what ticks have marked, and what is
-- declared; 20 runs at most.
create function _qwf.doctor_late() returns setof _qwf.finding
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
as $$
declare
  v_now timestamptz := qwf.now();
begin
  return query
  select 'problem', 'workflow ' || o.name,
    format('workflow %s has not succeeded for %s (expected: every %s)', o.name,
      _qwf.spell_duration(v_now - o.since), _qwf.spell_duration(o.every)),
    'see its runs: qwf runs workflow:' || o.name
  from _qwf.overdue_workflows(v_now) o
  order by o.name;
  return query
  select 'problem', 'schedule ' || l.name,
    format('schedule %s is late: %s', l.name, coalesce(
      format('due %s, not done within %s', _qwf.spell_moment(l.due_at),
        _qwf.spell_duration(l.takes)),
      'no success since ' || _qwf.spell_moment(l.last_success), 'it has never succeeded')),
    'see what became of its times: qwf schedule history ' || l.name
  from _qwf.late_schedules(v_now) l
  order by l.name;
  return query
  select 'note', 'run ' || r.id,
    format('run %s of %s is late: %s for %s', r.id, r.workflow,
      case r.status when 'queued' then 'it waits' else 'it runs' end,
      _qwf.spell_duration(v_now - coalesce(r.started_at, r.created_at))),
    'qwf show ' || r.id
  from qwf.runs r
  where r.status in ('queued', 'running', 'awaiting_input') and r.late_at is not null
  order by r.id
  limit 20;
end $$;

-- Finds rules that cannot be applied, messages that were not delivered or wait for another try
-- for long, and receivers that no live agent has, the first five.
create function _qwf.doctor_alerts() returns setof _qwf.finding
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with had as materialized (
    select o.receiver from qwf.receiver_overview o where o.hosts <> '{}'
  ), told as materialized (
    select m.receiver, count(*) filter (where j.status <> 'failed') as waiting,
      count(*) filter (where j.status = 'failed') as lost,
      min(m.created_at) filter (where j.status <> 'failed' and j.last_error is not null) as since,
      _qwf.error_line(max(j.last_error)) as error,
      (array_agg(m.sent_job order by m.sent_job) filter (where j.status <> 'failed'))[:5] as jobs,
      m.receiver in (select h.receiver from had h) as is_had
    from qwf.alert_messages m
    cross join lateral (  -- offset: each by its id, whatever the statistics say
      select b.status, b.last_error from qwf.jobs b where b.id = m.sent_job offset 0) j
    where m.receiver is not null and j.status in ('scheduled', 'queued', 'failed')
    group by m.receiver
  )
  select 'problem', 'alert ' || a.name,
    format('rule %s cannot be applied: %s', a.name, left(a.last_error, 200)),
    format('correct it: qwf alert set %s RULE', a.name)
  from qwf.alerts a where a.last_error_at > qwf.now() - interval '1 day'
  union all
  select * from _qwf.first_few(array(
    select ('problem', 'receiver ' || r.receiver, format('no live agent has receiver %s; %s',
        r.receiver, case r.waiting
          when 1 then '1 message waits' else r.waiting || ' messages wait' end),
      format('add [receiver.%s] to qwf.toml of an agent of queue qwf.alerts',
        r.receiver))::_qwf.finding
    from told r where r.waiting > 0 and not r.is_had
    order by r.receiver not in (  -- those that administrators name come first
      select a.rule #>> '{do,receiver}' from qwf.alerts a
      where a.notify is null and a.rule -> 'do' ? 'receiver'), r.receiver))
  union all
  select 'problem', 'receiver ' || r.receiver, f.says, f.hint
  from told r
  cross join lateral (
    select format(case r.waiting
        when 1 then '%s message for receiver %s has waited for another try for %s: %s'
        else '%s messages for receiver %s wait for another try, the oldest for %s: %s' end,
        r.waiting, r.receiver, _qwf.spell_duration(qwf.now() - r.since), r.error),
      format('see on its box whether it works: qwf receivers --check %s; then send now: '
        'qwf change %s --next', r.receiver, array_to_string(r.jobs, ' '))
    where r.since < qwf.now() - interval '10 min' and r.is_had
    union all
    select format(case r.lost when 1 then '%s message for receiver %s was not delivered: %s'
        else '%s messages for receiver %s were not delivered: %s' end, r.lost, r.receiver, r.error),
      'correct it, and deliver them: qwf retry job --failed --task qwf.send'
    where r.lost > 0) f (says, hint)
$$;
