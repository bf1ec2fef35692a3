-- Deploy qwf:functions/claim/claim
-- Purpose: Hands queued jobs to a worker. This is the only way from queued to running.
-- Guarantees: A job is handed to one worker only: its row is locked when it is picked, and made
--   running in the same transaction. Limited jobs take their slots and starts first, so that claims
--   of rivals count before they commit. Of limits with a rate it hands out only as many jobs as the
--   worker could begin now: a start counts when its job is claimed. A job whose references cannot
--   be resolved fails with QW004, and the others are still handed out. A job with a key starts only
--   when the one of its key that started before has ended: only claim makes a waiting job (w) one
--   that has started (s), and only under the lock of its row. The jobs come in the order in which
--   they were picked: no join here may change it, and the settings below leave only nested loops. A
--   walk is a scan along one index in claim order that stops at the jobs it takes. The ordinary
--   walk stands here, and all others behind _pick_special. What is asked of a table says limit 1
--   and not exists, for which the planner might read all of it into a hash table. Every walk
--   follows its index whatever the statistics say: the settings below hold in all functions that
--   claim calls, and rule out what a cached plan with an unknown LIMIT would choose instead.
-- Locks: starts and free slots of limits, queued jobs, and runs that have not started; skips those
--   that somebody else has locked.
-- Notifies: the next sleeper of the queue, if there may be more jobs than this worker took, or jobs
--   that it cannot run; on a queue with placement pack, the better worker that it leaves them to.
-- Raises: QW005 for max_jobs outside 1 to 1000 or startable outside 0 to max_jobs, QW006 for an
--   unknown queue, QW007 for a queue or worker of the engine.

begin;

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

commit;
