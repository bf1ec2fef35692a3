-- Queued jobs handed to a worker. The ordinary claim picks and writes in one statement. Locks:
-- starts and free slots of limits, queued jobs, then runs that have not started; it skips what
-- others have locked.

create type qwf.claimed_job as (
  job_id bigint, token uuid, run_id bigint, node_id text, task text, queue text, inputs jsonb,
  attempt int, timeout interval, stall_timeout interval, required_model text, out_dir text,
  lease_expires_at timestamptz, project text, labels jsonb,
  light boolean, created_at timestamptz, rated boolean, checkpoint jsonb,
  alone boolean, queued_s double precision, at_most_once boolean);
comment on type qwf.claimed_job is
  'A job as a worker gets it from claim: the work, and the token that every report about it must '
  'carry. created_at is that of the run, or of a standalone job: with it a folder tells two jobs '
  'with one id apart. rated: its limit has a rate, and the start was counted just now, so begin it '
  'before all others. checkpoint: the value that an earlier attempt has saved with progress(). '
  'alone: three times its process ended while it ran other jobs, too, so run it in one without '
  'others. queued_s: for how many seconds it was queued before this claim. '
  'at_most_once: before its body begins, call progress(begun => true), and begin only after ok.';

create type qwf.verdict_or_job as (
  job_id bigint, verdict text, pending boolean, token uuid, run_id bigint, node_id text, task text,
  queue text, inputs jsonb, attempt int, timeout interval, stall_timeout interval,
  required_model text, out_dir text, lease_expires_at timestamptz, project text, labels jsonb,
  light boolean, created_at timestamptz, rated boolean, checkpoint jsonb,
  alone boolean, queued_s double precision, at_most_once boolean);
comment on type qwf.verdict_or_job is
  'A row of finish_and_claim. With a verdict it answers a report, and the columns after pending '
  'are null; without one it is a claimed job (see claimed_job).';

create type _qwf.claim_terms as (
  closed boolean, packed boolean, max_running int, lease interval, timeout interval,
  limited boolean, keyed boolean, asleep boolean, crowded boolean, worker qwf.workers);
comment on type _qwf.claim_terms is
  'The terms of a claim. closed: the queue is paused or the worker is off; packed: a better '
  'worker comes first; limited: jobs wait for a limit; keyed: for '
  'one that counts by key; asleep: somebody sleeps on the queue; crowded: it has a floor; '
  'worker: its row, null if it is not registered.';

create type _qwf.picked as (
  "row" tid, id bigint, run_id bigint, inputs jsonb, error text, rare boolean, out_dir text,
  run_created_at timestamptz);
comment on type _qwf.picked is
  'A job about to be handed out: the ctid of its locked row, and its resolved inputs (null: they '
  'hold no reference), or why they cannot be resolved; rare: it has a key, and may take over from '
  'an older job of it that waits for its next try, or a deadline, or runs at most once. '
  'Of a node also the folder of its run, and when the run was enqueued.';

create type _qwf.nodes_read as (jobs _qwf.picked[], runs bigint[]);
comment on type _qwf.nodes_read is
  'Picked jobs with their inputs, and their runs if one of these has not started (else null).';

-- Hands queued jobs to a worker, each to one only: the row is locked when picked, and made
-- running in the same transaction. Nothing else makes jobs run. Limited jobs take slots and
-- starts first, so that rival claims count before they commit. The ordinary walk is here, the
-- others are behind _pick_special. Settings and `limit 1` pin every plan, those of called
-- functions, too.
-- Locks: starts, free slots, queued jobs, runs that have not started; skips locked rows.
-- Notifies: the next sleeper, if jobs may be left; with placement pack, the better worker.
-- Raises: QW005 for max_jobs or startable out of bounds, QW006, QW007.
create function qwf.claim(
  queue text, worker text, max_jobs int default 1, lease interval default null,
  light_only boolean default false, startable int default null)
returns setof qwf.claimed_job
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_material = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
  v_terms _qwf.claim_terms; v_worker qwf.workers;
  v_jobs _qwf.picked[];
  v_special _qwf.special_pick;
  v_secret bytea := uuid_send(gen_random_uuid());
  v_nodal boolean; v_rare boolean; v_nodes _qwf.nodes_read;
begin
  select
    q.paused or (select true from qwf.switched_off o
      where o.host = w.host and o.queue = q.name limit 1),
    q.placement = 'pack', q.max_running, coalesce(claim.lease, q.effective_lease),
    q.effective_timeout, (select true from qwf.jobs j
      where j.queue = q.name and j.status = 'queued' and j.limit_by is not null
        and j.limit_place is null limit 1),
    (select true from qwf.jobs j
      where _qwf.line_of(j) = q.name and j.limit_place is not null
        and j.status in ('queued', 'running') limit 1),
    (select true from qwf.sleepers z where z.queue = q.name limit 1),
    (select f.until > v_now from _qwf.floors f where f.queue = q.name
      and f.found_at < v_now - interval '1 s' order by f.found_at desc limit 1), w
    into v_terms
  from qwf.queues q left join qwf.workers w on w.id = claim.worker
  where q.name = claim.queue and q.name <> 'qwf.runs';
  if v_terms.lease is null or claim.lease is not null or claim.worker is null
    or claim.worker like 'qwf.%' or octet_length(claim.worker) > 500 or claim.max_jobs is null
    or claim.max_jobs not between 1 and 1000 or claim.startable not between 0 and claim.max_jobs
  then
    perform _qwf.check_claim(
      claim.queue, claim.worker, claim.max_jobs, v_terms.lease, claim.startable);
  end if;
  if v_terms.closed then return; end if;
  v_worker := v_terms.worker;
  if v_terms.packed or v_terms.max_running is not null or v_terms.limited or v_terms.keyed
    or claim.light_only or v_worker.current_model is not null or v_worker.rank < 0
    or v_terms.crowded
  then
    v_special := _qwf.pick_special(
      claim.queue, v_terms, v_now, claim.max_jobs, claim.light_only, claim.startable);
    if v_special.room = 0 then return; end if;
    v_jobs := v_special.jobs;
  else
    v_jobs := array(
      select (j.ctid, j.id, j.run_id, null, null,
        j.once or j.key_state = 'w' or j.expires_at is not null or j.begun is not null,
        null, null)::_qwf.picked
      from qwf.jobs j
      where j.queue = claim.queue and j.status = 'queued' and j.limit_by is null
        and _qwf.fits(j, v_worker, v_now)
      order by j.run_next desc, j.priority, j.position
      limit claim.max_jobs for no key update skip locked);
  end if;
  v_now := qwf.now();  -- again: a picked job may have been queued since the first reading
  v_nodal := v_jobs[1].run_id is not null; v_rare := v_jobs[1].rare;
  if cardinality(v_jobs) > 1 then  -- one needs no statement
    select bool_or(run_id is not null), bool_or(rare) into v_nodal, v_rare from unnest(v_jobs);
  end if;
  if v_rare then v_jobs := _qwf.supersede(v_jobs, v_now, claim.startable, v_special.rated); end if;
  if v_terms.asleep then
    perform _qwf.wake_another(
      claim.queue, v_worker, v_now, claim.max_jobs, cardinality(v_jobs), v_special);
  end if;
  if v_jobs = '{}' then return; end if;
  if v_nodal then
    v_nodes := _qwf.resolve_inputs(v_jobs, claim.worker, v_now);  -- may leave the last ones
    v_jobs := v_nodes.jobs;
  end if;
  if v_rare then delete from qwf.waits w using unnest(v_jobs) p where w.job_id = p.id; end if;
  return query
  update qwf.jobs j set
    status = 'running', token = _qwf.new_token(j.id, v_secret), attempt = j.attempt + 1,
    lease_expires_at = v_now + v_terms.lease, resolved_inputs = p.inputs, claimed_at = v_now,
    claimed_by = claim.worker, started_at = coalesce(j.started_at, v_now), run_next = false,
    key_state = case j.key_state when 'w' then 's' else j.key_state end,
    begun = case when j.begun is not null then v_worker.writes_begun is not true end
  from unnest(v_jobs) p where j.ctid = p.row
  returning j.id, j.token, j.run_id, j.node_id, j.task, j.queue, coalesce(j.resolved_inputs,
    j.inputs), j.attempt, coalesce((j.options).timeout, v_terms.timeout), (j.options).stall_timeout,
    j.required_model, p.out_dir, j.lease_expires_at, j.project, j.labels, j.light,
    coalesce(p.run_created_at, j.created_at), coalesce(j.id = any (v_special.rated), false),
    case when j.attempt > 1 then _qwf.checkpoint_of(j.id) end, j.attempt > 3 and
    _qwf.runs_alone(j.id), extract(epoch from v_now - j.queued_at)::float8, j.begun is not null;
  if v_nodes.runs is not null then perform _qwf.start_runs(v_nodes.runs, v_now); end if;
  if v_special.limited then perform _qwf.use_permits(v_special, v_jobs, v_now); end if;
end $$;
comment on function qwf.claim is
  'Hands at most max_jobs (1 to 1000) queued jobs of the queue to the worker, each with a token '
  'and a lease. light_only: only jobs that may run beside a model job. startable: how many jobs '
  'the worker could begin now (0 to max_jobs; null: 1); it gets at most that many of limits with a '
  'rate and of those that run at most once, so that none waits after its start was counted. '
  'Returns nothing while the queue is paused, the worker is off, or a better one has room '
  '(placement pack); QW005 for invalid numbers, QW006 for an unknown queue. The worker need '
  'not be registered.';
call _qwf.allow('qwf.claim', 'qwf_worker');

-- Refuses a claim from an unknown queue, without a worker, or with a bad lease, a bad number of
-- jobs or a bad number of those that could begin.
-- Raises: QW005, QW006.
create function _qwf.check_claim(
  p_queue text, p_worker text, p_max_jobs int, p_lease interval, p_startable int)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if starts_with(p_worker, 'qwf.') then
    perform _qwf.refuse_engine_name('worker', p_worker);
  elsif p_queue = 'qwf.runs'
    or not exists (select from qwf.queues q where q.name = p_queue)
  then
    perform _qwf.raise_unknown_queue(p_queue);
  end if;
  if p_worker is null or octet_length(p_worker) > 500
    or p_max_jobs is null or p_max_jobs not between 1 and 1000
    or not _qwf.is_duration(p_lease, '1 day', p_least => '1 s') then
    raise exception using errcode = 'QW005', message = 'invalid claim',
      detail = format('worker %L, max_jobs %s, lease %s', left(p_worker, 500), p_max_jobs, p_lease),
      hint = 'name the worker, and claim 1 to 1000 jobs with a lease from one second to one day';
  end if;
  if p_startable not between 0 and p_max_jobs then
    raise exception using errcode = 'QW005', message = 'startable must be 0 to max_jobs',
      detail = format('startable %s, max_jobs %s', p_startable, p_max_jobs),
      hint = 'say how many jobs you could begin now, or leave it out for 1';
  end if;
end $$;

-- Ends the older jobs of the keys of picked jobs, which only wait for their next try, and
-- returns the picked jobs that may start. Of jobs that run at most once it keeps as many as the
-- worker could begin now (p_startable). Only here does a newer job supersede an older one: a
-- producer and a finish with open transactions cannot see each other. A picked job whose older
-- one has been queued meanwhile is left; if somebody has locked the older one, it waits a
-- second, so that claims do not pick it in vain.
-- Locks: the older jobs; skips those that somebody else has locked.
create function _qwf.supersede(
  p_picked _qwf.picked[], p_now timestamptz, p_startable int, p_rated bigint[])
returns _qwf.picked[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_jobs _qwf.picked[];
  v_ahead bigint[] := (array(
    select p.id from unnest(p_picked) p
    where p.rare and p.id <> all (coalesce(p_rated, '{}'))
      and (select j.begun from qwf.jobs j where j.ctid = p.row) is not null)
    )[1 + greatest(coalesce(p_startable, 1) - coalesce(cardinality(p_rated), 0), 0) :];
begin
  with newer as materialized (
    select j.id, j.project, j.task, j.key
    from unnest(p_picked) p join qwf.jobs j on j.ctid = p.row
    where p.rare and j.key_state <> 's'
  ), older as materialized (
    select o.id, n.id as newer
    from newer n cross join lateral (  -- from the index jobs_key
      select o.id from qwf.jobs o
      where o.project = n.project and o.task = n.task and o.key = n.key and o.key is not null
        and (o.key_state = 's') and o.status = 'scheduled'
      for no key update skip locked
    ) o
  ), ended as (
    update qwf.jobs j set
      status = 'cancelled', finished_at = p_now, run_at = null,
      last_error = format('superseded by job %s', o.newer) || coalesce(': ' || j.last_error, '')
    from older o where j.id = o.id
    returning j.id, o.newer
  )
  insert into _qwf.event_log (at, job_id, kind, detail)
  select p_now, e.id, 'cancelled',
    jsonb_build_object('reason', 'superseded', 'by_job', e.newer)
  from ended e;
  v_jobs := array(
    select p from unnest(p_picked) p
    where not p.rare or p.id <> all (v_ahead) and not exists (
      select from qwf.jobs j
      where j.ctid = p.row and j.key_state <> 's'
        and _qwf.started_with_key(j.project, j.task, j.key, true) is not null));
  if cardinality(v_jobs) < cardinality(p_picked) then
    update qwf.jobs j set
      status = 'scheduled', run_at = p_now + interval '1 s', position = null, queued_at = null
    from unnest(p_picked) p
    where j.ctid = p.row and not exists (select from unnest(v_jobs) k where k.id = p.id)
      and exists (
        select from qwf.jobs o
        where o.project = j.project and o.task = j.task and o.key = j.key and o.key is not null
          and (o.key_state = 's') and o.status = 'scheduled');
  end if;
  return v_jobs;
end $$;

-- Returns what the last attempt of a job that saved a checkpoint has saved; null: none. The
-- planner cannot inline it: a claim of first attempts does not open the table.
create function _qwf.checkpoint_of(p_job bigint) returns jsonb
language sql stable
as $$
  select c.value from qwf.checkpoints c where c.job_id = p_job
$$;

-- True if a job has been released three times because a process ended that ran other jobs,
-- too: then it may be what ends them, and runs in a process without others. Reads the attempts
-- of one job. Claim asks about jobs with three attempts or more.
create function _qwf.runs_alone(p_job bigint)
returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select count(*) >= 3
  from qwf.job_attempts a
  where a.job_id = p_job and a.outcome = 'released' and a.detail ->> 'reason' = 'neighbour'
$$;

-- Starts the runs of nodes that were handed out, if they have not started. They are found by
-- started_at: a condition on status would tempt the planner to use a partial index. A run that
-- somebody else has locked is started by its next claim.
-- Locks: runs that have not started, by id, if nobody else has locked them.
create function _qwf.start_runs(p_runs bigint[], p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  update qwf.runs r set status = 'running', started_at = p_now
  where r.id = any (array(
    select b.id from qwf.runs b
    where b.id = any (p_runs) and b.started_at is null and b.finished_at is null
    order by b.id
    for no key update skip locked));
end $$;

-- Takes reports about attempts that ended, and hands out the next jobs, in one commit. The
-- attempts end first, so that this claim can take a node that a report opens, or the slot that
-- it frees. Returns one row per report, in order, as finish_many answers; then the jobs, in the
-- order and under the rules of claim. If it raises, it has written nothing: the caller still has
-- all reports, and sends them again with finish_many and claims with claim, so that neither can
-- keep the other from its end.
-- Locks: as finish_many, which may wait; then as claim, which never waits.
-- Notifies: as finish_many and claim.
create function qwf.finish_and_claim(
  reports jsonb, queue text, worker text, max_jobs int default 1, lease interval default null,
  light_only boolean default false, startable int default null)
returns setof qwf.verdict_or_job
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_began timestamptz := qwf.now();
  v_asleep boolean := (
    select true from qwf.sleepers s where s.queue = finish_and_claim.queue limit 1);
  v_wakes int;
begin
  if v_asleep then
    perform set_config('qwf.put_off',
      format('%s 0 %s', pg_current_xact_id(), finish_and_claim.queue), true);
  end if;
  return query
  select v.job_id, v.verdict, v.pending, null::uuid, null::bigint, null::text, null::text,
    null::text, null::jsonb, null::int, null::interval, null::interval, null::text, null::text,
    null::timestamptz, null::text, null::jsonb, null::boolean, null::timestamptz,
    null::boolean, null::jsonb, null::boolean, null::float8, null::boolean
  from qwf.finish_many(finish_and_claim.reports) v;
  if v_asleep then
    v_wakes := split_part(current_setting('qwf.put_off'), ' ', 2);
    perform set_config('qwf.put_off', '', true);
  end if;
  return query
  select c.job_id, null::text, null::boolean, c.token, c.run_id, c.node_id, c.task, c.queue,
    c.inputs, c.attempt, c.timeout, c.stall_timeout, c.required_model, c.out_dir,
    c.lease_expires_at, c.project, c.labels, c.light, c.created_at, c.rated, c.checkpoint,
    c.alone, c.queued_s, c.at_most_once
  from qwf.claim(
    finish_and_claim.queue, finish_and_claim.worker, finish_and_claim.max_jobs,
    finish_and_claim.lease, finish_and_claim.light_only, finish_and_claim.startable) c;
  if v_wakes > 0 then
    perform _qwf.wake(finish_and_claim.queue, v_wakes - count(*)::int)
    from qwf.jobs j
    where j.claimed_by = finish_and_claim.worker and j.status = 'running'
      and j.queue = finish_and_claim.queue and j.claimed_at >= v_began
      and (j.queued_at >= v_began or j.limit_by is not null or exists (
        select from qwf.queues q where q.name = j.queue and q.max_running is not null))
    having count(*) < v_wakes;
  end if;
end $$;
comment on function qwf.finish_and_claim is
  'Takes reports as finish_many does, then hands out jobs as claim does, in one transaction. First '
  'a row with a verdict for each report, in order; then the claimed jobs, whose verdict is null. '
  'Nodes that the reports open can be among them. An error writes nothing: then report with '
  'finish_many. QW005 for a malformed report or an invalid claim, QW006 for an unknown queue.';
call _qwf.allow('qwf.finish_and_claim', 'qwf_worker');
