-- Runs, jobs, schedules and hosts that are late. Locks: the row of _qwf.judged, which it skips
-- if taken; then late runs and jobs that nobody has locked.

create type _qwf.wrong_now as (subject text, names jsonb, detail jsonb);
comment on type _qwf.wrong_now is
  'Something that is wrong now, with the names and the detail of the event that tells it.';

-- Looks every ten seconds for what is late or wrong: runs, jobs, workflows, schedules, queues,
-- boxes, jobs that fit no worker; and tells by events what begins and what ends. Advice only:
-- nothing is stopped. One caller at a time. Each look is bounded, and one that reads many rows
-- goes on where the last one ended. If nobody looked for a minute, no tick ran: that is an
-- event, too. Of queues it reads the first jobs only; one that is paused waits on purpose, and
-- those of the engine itself, qwf.*, are not judged.
-- Locks: the row of _qwf.judged; while another transaction has it, it does nothing. Then as the
--   looks do.
create function _qwf.judge() returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := qwf.now();
  v_judged _qwf.judged;
begin
  select g.* into v_judged from _qwf.judged g for no key update skip locked;
  if not found or v_now between v_judged.at and v_judged.at + interval '10 s' then
    return 0;
  end if;
  update _qwf.judged g set at = v_now;
  insert into _qwf.event_log (at, kind, subject, detail)
  select v_now, 'ticks_missed', 'engine', jsonb_build_object('since', v_judged.at,
    'seconds', round(extract(epoch from v_now - v_judged.at)))
  where v_judged.at < v_now - interval '1 min';
  return least(_qwf.judge_runs(v_judged.run_floor, v_now) + _qwf.judge_jobs(v_now)
    + _qwf.tell_states('overdue', 'overdue', null, array(
      select (o.name, jsonb_build_object('workflow', o.name), jsonb_strip_nulls(jsonb_build_object(
        'last_success', o.last_success, 'every', floor(date_part('epoch', o.every))))
        )::_qwf.wrong_now
      from _qwf.overdue_workflows(v_now) o), v_now)
    + _qwf.judge_schedules(v_now)
    + _qwf.tell_states('queue_waits', 'queue_waits', 'queue_moves', array(
      select (q.name, jsonb_build_object('queue', q.name), jsonb_build_object(
        'head_wait', floor(date_part('epoch', v_now - c.head_since)),
        'expected', floor(date_part('epoch', q.within))))::_qwf.wrong_now
      from (
        select n.name, _qwf.as_interval(n.expect -> 'starts_within') as within
        from qwf.queues n
        where n.expect ? 'starts_within' and not n.paused and n.name not like 'qwf.%') q
      cross join lateral _qwf.count_queued(q.name, 1) c
      where c.queued > 0 and c.head_since < v_now - q.within), v_now)
    + _qwf.judge_hosts(v_now) + _qwf.judge_unassignable(v_now), 99);
end $$;

-- Marks open runs that have not started in time, or that run for longer than expected or usual,
-- and tells it. Once for each try of a run: retry_run clears the mark. Looks at 5,000 open runs
-- from p_floor on, and begins again after the last. The time that a run waits for answers does
-- not count. A run that ends at the same moment is not late: its row is read again when it is
-- locked, and one that somebody has locked is left for the next look.
-- Locks: runs that are late, if nobody else has locked them.
create function _qwf.judge_runs(p_floor bigint, p_now timestamptz, p_max int default 5000)
returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_nestloop = off  -- statistics taken when no run was open join each run with each workflow
set enable_mergejoin = off
set jit = off
as $$
declare
  v_last bigint;
  v_late jsonb;
  v_count int;
begin
  with open as materialized (
    select r.id, r.workflow, r.status, r.started_at, greatest(r.created_at, r.run_at) as due,
      r.late_at is null as unmarked
    from qwf.runs r
    where r.status in ('queued', 'running', 'awaiting_input') and r.id > p_floor
    order by r.id limit p_max
  ), expected as materialized (
    select d.workflow, u.p95, _qwf.late_after(w.expect -> 'takes', u.runs, u.p95) as after,
      date_part('epoch', _qwf.as_interval(w.expect -> 'starts_within')) as within
    from (select distinct o.workflow from open o) d
    left join lateral (
      select x.definition -> 'expect' as expect
      from qwf.workflows x where x.name = d.workflow and x.current offset 0) w on true
    left join lateral (
      select x.runs, x.p95 from qwf.usual_times x
      where x.kind = 'run' and x.name = d.workflow and x.node = '' offset 0) u on true
  ), late as (
    select o.id, jsonb_strip_nulls(case when o.status = 'running'
      then jsonb_build_object('runs_for', floor(t.ran), 'usual', e.p95, 'expected', e.after)
      else jsonb_build_object('waits_for', floor(t.waited), 'expected', e.within) end) as detail
    from open o join expected e on e.workflow = o.workflow
    cross join lateral (
      select date_part('epoch', p_now - o.started_at) as ran,
        date_part('epoch', p_now - o.due) as waited) t
    where o.unmarked and (
      o.status = 'queued' and t.waited > e.within
      or o.status = 'running' and t.ran > e.after
        and t.ran - _qwf.asked_seconds(o.id, o.started_at, p_now) > e.after)
    limit 1000
  )
  select (select o.id from open o order by o.id desc limit 1 offset 0),
    (select jsonb_object_agg(l.id, l.detail) from late l), (select count(*) from open)
    into v_last, v_late, v_count;
  update _qwf.judged g set run_floor = case when v_count = p_max then v_last else 0 end;
  with held as materialized (
    select r.id, r.workflow from qwf.runs r
    where r.id = any (array(select k::bigint from jsonb_object_keys(v_late) k))
      and r.finished_at is null and r.late_at is null
    order by r.id
    for no key update skip locked
  ), marked as (
    update qwf.runs r set late_at = p_now where r.id = any (array(select h.id from held h))
  )
  insert into _qwf.event_log (at, run_id, kind, subject, detail)
  select p_now, h.id, 'run_late', h.workflow, v_late -> h.id::text from held h;
  get diagnostics v_count = row_count;
  return v_count;
end $$;

-- Tells of standalone jobs that run for longer than is usual for their task. Once for each
-- attempt. Looks at 5,000 running jobs. Nodes of runs are left to _judge_runs, jobs of the
-- engine's own queues to nobody.
-- Locks: running jobs that are late, if nobody else has locked them.
create function _qwf.judge_jobs(p_now timestamptz, p_max int default 5000) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
declare
  v_count int;
begin
  delete from _qwf.late_jobs l
  where not exists (
    select from qwf.jobs j
    where j.id = l.job_id and j.status = 'running' and j.attempt = l.attempt);
  with running as materialized (
    select j.id, j.task, date_part('epoch', p_now - j.claimed_at) as ran
    from qwf.jobs j
    where j.status = 'running' and j.run_id is null and j.queue not like 'qwf.%'
      and j.claimed_at < p_now - interval '1 min'
    limit p_max
  ), late as materialized (
    select r.id, r.ran, u.p95, a.after
    from running r
    join qwf.usual_times u on u.kind = 'task' and u.name = r.task and u.node = ''
    cross join lateral (select _qwf.late_after(null, u.runs, u.p95) as after) a
    where r.ran > a.after
      and not exists (select from _qwf.late_jobs k where k.job_id = r.id)
    limit 1000
  ), held as materialized (
    select j.id, j.task, j.attempt from qwf.jobs j
    where j.id = any (array(select l.id from late l)) and j.token is not null
    order by j.id
    for no key update skip locked
  ), marked as (
    insert into _qwf.late_jobs (job_id, attempt) select h.id, h.attempt from held h
    on conflict (job_id) do nothing
  )
  insert into _qwf.event_log (at, job_id, kind, subject, detail)
  select p_now, h.id, 'job_late', h.task, jsonb_build_object(
    'runs_for', floor(l.ran), 'usual', l.p95, 'expected', l.after, 'attempt', h.attempt)
  from held h join late l on l.id = h.id;
  get diagnostics v_count = row_count;
  return v_count;
end $$;

-- Writes an event for each thing that is wrong now and was not wrong at the last look, and one
-- for each that is no longer wrong. Each begin and each end is told once: open_states remembers
-- what was told. p_begin null: p_kind was told by another function, and only the end is told
-- here; p_end null: the end is no event. Returns how many events it wrote.
-- Locks: the rows of open_states of this kind; the caller has locked the row of _qwf.judged.
create function _qwf.tell_states(
  p_kind text, p_begin text, p_end text, p_wrong _qwf.wrong_now[], p_now timestamptz) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_began int;
  v_ended int;
begin
  with wrong as materialized (
    select w.subject, w.names, w.detail from unnest(p_wrong) w
  ), began as (
    insert into _qwf.open_states as s (kind, subject, since, names)
    select p_kind, w.subject, p_now, w.names from wrong w
    on conflict (kind, subject) do nothing
    returning s.subject
  ), told as (
    insert into _qwf.event_log (at, kind, subject, names, detail)
    select p_now, p_begin, w.subject, w.names, w.detail
    from began b join wrong w on w.subject = b.subject
    where p_begin is not null
    returning id
  )
  select count(*) into v_began from told;
  with ended as (
    delete from _qwf.open_states s
    where s.kind = p_kind and s.subject not in (select w.subject from unnest(p_wrong) w)
    returning s.subject, s.since, s.names
  ), told as (
    insert into _qwf.event_log (at, kind, subject, names, detail)
    select p_now, p_end, e.subject, e.names, jsonb_build_object('since', e.since) from ended e
    where p_end is not null
    returning id
  )
  select count(*) into v_ended from told;
  return v_began + v_ended;
end $$;

-- Lists the workflows of which no run has completed for longer than expect.every. Reads the
-- current version of each workflow that expects it, and one row of usual_times.
create function _qwf.overdue_workflows(p_now timestamptz)
returns table (name text, last_success timestamptz, every interval, since timestamptz)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select e.name, u.last_success, e.every, s.since
  from (
    select w.name, _qwf.as_interval(w.definition -> 'expect' -> 'every') as every
    from qwf.workflows w where w.current and w.definition -> 'expect' ? 'every') e
  left join qwf.usual_times u on u.kind = 'run' and u.name = e.name and u.node = ''
  cross join lateral (
    select coalesce(u.last_success, (
      select min(f.registered_at) from qwf.workflows f where f.name = e.name)) as since) s
  where s.since < p_now - e.every
$$;

-- Tells of schedules that are late, and of those that succeed again after they were late, failed
-- or left out a time. schedule_ok once for all that was wrong with a schedule, when a job or run
-- of it completes that began to be wrong before. Of a schedule that was dropped nothing is told.
-- Locks: as _tell_states; rows of open_states.
create function _qwf.judge_schedules(p_now timestamptz) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count int;
begin
  with over as (
    delete from _qwf.open_states o
    where o.kind in ('schedule_failed', 'schedule_skipped', 'schedule_late') and (
      not exists (select from qwf.schedules s where s.name = o.subject)
      or exists (
        select from qwf.firings f
        where coalesce(f.backfill_of, f.schedule) = o.subject and f.result = 'completed'
          and f.ended_at > o.since))
    returning o.subject, o.since
  )
  insert into _qwf.event_log (at, kind, subject, names, detail)
  select p_now, 'schedule_ok', v.subject, jsonb_build_object('schedule', v.subject),
    jsonb_build_object('since', min(v.since))
  from over v join qwf.schedules s on s.name = v.subject
  group by v.subject;
  get diagnostics v_count = row_count;
  with began as (
    insert into _qwf.open_states as o (kind, subject, since)
    select 'schedule_late', l.name, p_now from _qwf.late_schedules(p_now) l
    on conflict (kind, subject) do nothing
    returning o.subject
  )
  insert into _qwf.event_log (at, kind, subject, names, detail)
  select p_now, 'schedule_late', l.name, jsonb_build_object('schedule', l.name),
    jsonb_strip_nulls(jsonb_build_object('due_at', l.due_at, 'last_success', l.last_success,
      'takes', floor(date_part('epoch', l.takes))))
  from began b join _qwf.late_schedules(p_now) l on l.name = b.subject;
  return v_count;
end $$;

-- Lists the schedules of which a time has passed without success: due plus expect.takes,
-- whatever the cause; or without any success for longer than expect.every. Of a schedule that is
-- off, or was switched on later than that, nothing is expected.
create function _qwf.late_schedules(p_now timestamptz)
returns table (name text, due_at timestamptz, takes interval, last_success timestamptz)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select s.name, d.due_at, t.takes, l.last_success
  from qwf.schedules s
  cross join lateral (
    select _qwf.as_interval(s.expect -> 'takes') as takes,
      _qwf.as_interval(s.expect -> 'every') as every) t
  cross join lateral (
    select _qwf.latest_fire(s, p_now - t.takes) as due_at where t.takes is not null
    union all select null where t.takes is null) d
  cross join lateral (
    select max(f.ended_at) as last_success from qwf.firings f
    where coalesce(f.backfill_of, f.schedule) = s.name and f.result = 'completed') l
  where s.enabled and s.backfill_of is null and s.expect is not null and (
    d.due_at >= s.on_since and not exists (
      select from qwf.firings f
      where coalesce(f.backfill_of, f.schedule) = s.name and f.result = 'completed'
        and f.ended_at >= d.due_at and coalesce(f.due_at, f.at) >= d.due_at)
    or greatest(s.on_since, l.last_success) < p_now - t.every)
$$;

-- Tells of boxes whose workers are gone without a word, and of those that are back; and of model
-- servers that work again after an event server_broken. A box that is gone for more than a day
-- is told as back only if a worker of it lives; otherwise its state ends without an event.
-- Locks: rows of open_states; the caller has locked the row of _qwf.judged.
create function _qwf.judge_hosts(p_now timestamptz) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count int;
begin
  with dead as materialized (
    select w.host, sum(w.running) as holds, array_agg(distinct w.queue) as queues
    from qwf.worker_overview w where w.state = 'dead' group by w.host
  ), began as (
    insert into _qwf.open_states as o (kind, subject, since)
    select 'worker_dead', d.host, p_now from dead d
    on conflict (kind, subject) do nothing
    returning o.subject
  ), told as (
    insert into _qwf.event_log (at, kind, subject, names, detail)
    select p_now, 'worker_dead', d.host, jsonb_build_object('host', d.host),
      jsonb_build_object('holds', d.holds, 'queues', d.queues)
    from began b join dead d on d.host = b.subject
  ), over as (
    delete from _qwf.open_states o
    where o.kind = 'worker_dead' and o.subject not in (select d.host from dead d)
    returning o.subject, o.since
  )
  insert into _qwf.event_log (at, kind, subject, names, detail)
  select p_now, 'worker_back', v.subject, jsonb_build_object('host', v.subject),
    jsonb_build_object('since', v.since)
  from over v
  where exists (select from qwf.worker_overview w where w.host = v.subject and w.live);
  get diagnostics v_count = row_count;
  with ready as (
    select o.subject, o.since, o.names
    from _qwf.open_states o
    where o.kind = 'server_broken' and exists (
      select from qwf.server_overview s
      where s.host = o.names ->> 'host' and s.server = o.names ->> 'server' and s.state = 'ready')
  ), over as (
    delete from _qwf.open_states o using ready r
    where o.kind = 'server_broken' and o.subject = r.subject
  )
  insert into _qwf.event_log (at, kind, subject, names, detail)
  select p_now, 'server_back', r.names ->> 'host', r.names, jsonb_build_object('since', r.since)
  from ready r;
  return v_count;
end $$;
