-- Deploy qwf:functions/workers/heartbeat
-- Purpose: Records that a worker is alive, renews its leases, and tells it which bodies to stop.
-- Guarantees: Never waits. A job that somebody else has locked gets no row in the answer; ask again
--   with the next heartbeat. A job to cancel is not renewed, so that a worker that ignores the
--   order loses it when the lease lapses. The jobs of a worker that is off hard are given back, so
--   that a program that knows no orders obeys, too: lost.
-- Locks: the worker's row and the jobs (by id), if nobody else has locked them; as _end_attempts
--   for a worker that is off hard.
-- Notifies: sleepers of the queue that gets jobs back.
-- Raises: QW005 for an invalid lease, more than 10000 tokens, or stats that are not an object or
--   larger than 64 KiB.

begin;

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

commit;
