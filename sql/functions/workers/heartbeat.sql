-- Heartbeats, which keep the leases of running jobs, and sleep. Locks: the worker's row and its
-- jobs (by id), each only if nobody else has locked it.

create type qwf.lease_verdict as (token uuid, verdict text);
comment on type qwf.lease_verdict is
  'Answer to a heartbeat for one token: ok (renewed), cancel (stop the body), lost (the job is '
  'not yours any more).';

create type qwf.awaited as (
  registered boolean, ordered boolean, sleepers int, tick_in_s numeric);
comment on type qwf.awaited is
  'Answer to a worker that stays asleep: whether it is registered; whether worker_orders or '
  'take_model_requests have something for it; how many workers sleep; in how many seconds a tick '
  'is wanted (0: now, null: nothing is due).';

-- Records that a worker is alive, renews its leases, and tells it which bodies to stop. Never
-- waits: a job that somebody else has locked gets no row in the answer, so ask again. A job to
-- cancel is not renewed, so that a worker that ignores the order loses it. The jobs of a worker
-- that is off hard are released; the answer for them is lost.
-- Locks: the worker's row and the jobs (by id), if nobody else has locked them; as _end_attempts
--   for a worker that is off hard.
-- Notifies: sleepers of the queue that gets jobs back.
-- Raises: QW005 for an invalid lease, too many tokens, or stats that are too large or no object.
create function qwf.heartbeat(
  worker text, tokens uuid[] default '{}', lease interval default null, stats jsonb default null)
returns setof qwf.lease_verdict
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_material = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
begin
  perform _qwf.refuse_engine_name('worker', heartbeat.worker) where heartbeat.worker like 'qwf.%';
  perform _qwf.check_json('stats', heartbeat.stats);
  if not _qwf.is_duration(heartbeat.lease, '1 day', p_least => '1 s')
    or cardinality(heartbeat.tokens) > 10000 or jsonb_typeof(heartbeat.stats) <> 'object' then
    raise exception using errcode = 'QW005', message = 'invalid heartbeat',
      detail = format('lease %s, %s tokens, stats %s', heartbeat.lease,
        cardinality(heartbeat.tokens), _qwf.excerpt(heartbeat.stats)),
      hint = 'a lease is one second to one day; stats are a JSON object; at most 10000 tokens';
  end if;
  update qwf.workers w set
    last_seen = v_now,
    current_model = case when heartbeat.stats ? 'current_model'
      then heartbeat.stats ->> 'current_model' else w.current_model end,
    stats = coalesce(heartbeat.stats - 'current_model', w.stats)
  from (
    select f.id from qwf.workers f
    where f.id = heartbeat.worker and f.stopped_at is null
    for no key update skip locked
  ) free
  where w.id = free.id;
  if heartbeat.tokens = '{}' then
    return;
  end if;
  perform _qwf.release_switched_off(heartbeat.worker, heartbeat.tokens);

  return query
  with asked as materialized (
    select t.token, _qwf.job_of_token(t.token) as job_id
    from (select distinct u.token from unnest(heartbeat.tokens) u (token)) t
  ), seen as materialized (
    select a.token, j.id, j.run_id, j.run_if, j.parent_id,
      coalesce(heartbeat.lease, q.lease, s.lease) as lease
    from asked a
    join qwf.jobs j on j.id = a.job_id and j.token = a.token
    left join qwf.queues q on q.name = j.queue
    cross join qwf.settings s
  ), held as materialized (
    select j.id from qwf.jobs j join seen on seen.id = j.id
    where j.token = seen.token
    order by j.id
    for no key update of j skip locked
  ), judged as materialized (
    select s.token, s.id, s.lease,
      _qwf.should_stop(s.id, s.run_id, s.run_if, s.parent_id) as stopped
    from seen s join held h on h.id = s.id
  ), renewed as (
    update qwf.jobs j set lease_expires_at = v_now + k.lease
    from judged k
    where j.id = k.id and not k.stopped
  )
  select a.token, case when k.stopped then 'cancel' when k.id is not null then 'ok' else 'lost' end
  from asked a left join judged k on k.token = a.token
  where k.id is not null or not exists (select from seen s where s.token = a.token);
end $$;
comment on function qwf.heartbeat is
  'Renews the leases of these tokens and answers ok, cancel or lost for each. A job that is locked '
  'at the moment gets no row. The jobs of a worker that is off hard are released: lost.';
call _qwf.allow('qwf.heartbeat', 'qwf_worker');

-- Releases the jobs of a worker that is off hard and does not read its orders itself. Never
-- waits. No budget is counted, and they go to the front of their band; the tokens are stale from
-- then on. A report that is under way holds the lock of its job, and counts. An agent that
-- registered follows_orders kills and releases by itself: it still holds reports of bodies that
-- have ended, and they would be lost here.
-- Locks: the jobs (by id), if nobody else has locked them, then as _end_attempts.
create function _qwf.release_switched_off(p_worker text, p_tokens uuid[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_material = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_reports _qwf.report[];
begin
  if not exists (
    select from qwf.workers w
    join qwf.switched_off o on o.host = w.host and o.queue = w.queue
    where w.id = p_worker and not w.follows_orders and o.stop_policy = 'hard') then
    return;
  end if;
  with held as materialized (
    select j.id, j.token
    from unnest(p_tokens) t (token)
    join qwf.jobs j on j.id = _qwf.job_of_token(t.token) and j.token = t.token
    where j.claimed_by = p_worker
    order by j.id
    for no key update of j skip locked
  )
  select array_agg((h.id, h.token, 'released', null, 'the worker was switched off',
      jsonb_build_object('reason', 'worker_off'))::_qwf.report order by h.id) into v_reports
  from held h;
  if v_reports is not null then
    perform _qwf.end_attempts(v_reports);
  end if;
end $$;

-- Does in one call everything that a sleeping worker without a job needs. Sends its heartbeat
-- and renews its sleep. The answer says only whether to ask for orders, for requests or for a
-- tick, because there are rarely any.
-- Locks: the worker's own rows: in workers, if nobody else has locked it, and in sleepers.
-- Raises: QW005 for stats that are not an object, or an invalid age, QW006 for an unknown queue.
create function qwf.stay_asleep(
  worker text, queue text, stats jsonb default null, max_age interval default '1 s')
returns qwf.awaited
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_complete_at timestamptz := _qwf.last_complete_tick(stay_asleep.max_age);
  v_awaited qwf.awaited;
begin
  perform qwf.heartbeat(stay_asleep.worker, stats => stay_asleep.stats);
  perform qwf.sleep(stay_asleep.worker, stay_asleep.queue);
  select
    exists (select from qwf.switched_off o where o.host = w.host and o.queue = w.queue)
    or exists (
      select from qwf.model_requests r
      where r.host = w.host and r.queue = w.queue and r.taken_by is null)
    or exists (
      select from qwf.worker_controls c
      where c.host_label = w.host and c.queue = w.queue
        and num_nonnulls(c.server, c.parallel, c.server_idle) > 0)
    into v_awaited.ordered
  from qwf.workers w
  where w.id = stay_asleep.worker and w.stopped_at is null;
  v_awaited.registered := found;
  v_awaited.sleepers := (select count(*) from qwf.sleepers s);
  v_awaited.tick_in_s := case when v_complete_at is null then 0
    else _qwf.next_due_s(v_complete_at) end;
  return v_awaited;
end $$;
comment on function qwf.stay_asleep is
  'Heartbeat and renewed sleep, in one call, of a worker that holds no job. Answers whether there '
  'are orders or requests for it, and when a tick is wanted: now, if none has done everything '
  'within max_age. QW006 for an unknown queue.';
call _qwf.allow('qwf.stay_asleep', 'qwf_worker');

-- Returns whether a live worker runs on a host, whatever it serves or on one queue. A worker
-- that is switched off is alive. False for a host that nobody knows.
create function qwf.worker_alive(host text, queue text default null) returns boolean
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_since timestamptz := qwf.now() - (select s.worker_stale from qwf.settings s);
begin
  return exists (
    select from qwf.workers w
    where w.host = worker_alive.host
      and (worker_alive.queue is null or w.queue = worker_alive.queue)
      and w.stopped_at is null and w.last_seen > v_since);
end $$;
comment on function qwf.worker_alive is
  'True if a worker on the host, or on the host and queue, was seen within worker_stale.';
call _qwf.allow('qwf.worker_alive', 'qwf_worker', 'qwf_viewer');
