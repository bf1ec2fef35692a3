-- Invariants of jobs, limits and running attempts. Tests and doctor check them on live
-- databases.

-- Returns the violated invariants of the database. No row at any moment, under any load: one
-- statement, so one snapshot. Reads all tables: do not call it in a loop. With running_only it
-- reads the running jobs and the slots of limits alone, however many jobs there are.
create function qwf.check_invariants(running_only boolean default false)
returns table (invariant text, subject text, detail text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
#variable_conflict use_column
begin
  if check_invariants.running_only then
    return query select * from _qwf.running_invariants();
    return;
  end if;
  return query
  select * from _qwf.run_invariants()
  union all
  select * from _qwf.child_invariants()
  union all
  select * from _qwf.job_invariants()
  union all
  select * from _qwf.row_invariants(null)
  union all
  select * from _qwf.limit_invariants()
  union all
  select * from _qwf.event_invariants()
  union all
  select * from _qwf.kept_invariants()
  union all
  select * from _qwf.graph_invariants()
  union all
  select * from _qwf.schedule_invariants()
  union all
  select 'no step waits for a kept signal that the tick is done with', 'job ' || w.job_id,
    format('signal %s of project %L, sent at %s', s.name, s.project, s.sent_at)
  from qwf.waits w join qwf.signals s on s.project = w.project and s.name = w.name
  where w.kind = 'signal' and s.look_at is null and s.keep_until > qwf.now()
    and not coalesce(w.refused && array[s.id, -1], false)
  union all
  select 'a signal that was refused does not fit', 'job ' || w.job_id,
    format('signal %s of project %L, sent at %s', s.name, s.project, s.sent_at)
  from qwf.waits w
  join qwf.signals s on s.project = w.project and s.name = w.name and s.id = any (w.refused)
  join qwf.jobs j on j.id = w.job_id
  where w.kind = 'signal' and not exists (
    select from _qwf.answer_problems(j.input_spec, s.payload))
  union all
  select * from _qwf.alert_invariants()
  union all
  select * from _qwf.late_invariants();
end $$;
comment on function qwf.check_invariants is
  'Violated invariants: which, of which job, run, limit, schedule or sequence, and the numbers. A '
  'healthy database has none at any moment. running_only: of running jobs and limits alone, for '
  'pages that look again and again.';
call _qwf.allow('qwf.check_invariants', 'qwf_viewer');

-- Returns the violated invariants of running jobs and of limits. As check_invariants, but reads
-- only the running jobs and the slots of limits, however many jobs there are. The plan is
-- pinned, because statistics taken when nothing ran lead to a scan of all jobs.
create function _qwf.running_invariants() returns table (invariant text, subject text, detail text)
language sql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set max_parallel_workers_per_gather = 0
set jit = off
as $$
  select * from _qwf.row_invariants('running')
  union all
  select * from _qwf.limit_invariants()
$$;

-- Returns violated invariants of single rows: of jobs in one state, or of all jobs and runs.
-- They are not CHECK constraints, because every claim and finish would pay for those. Without a
-- pinned search_path, so that the planner inlines it and uses an index of that state.
create function _qwf.row_invariants(p_only qwf.job_status)
returns table (invariant text, subject text, detail text)
language sql stable
as $$
  select 'budgets hold', 'job ' || j.id, format('%s failures of %s, %s losses of %s',
    j.failures, (j.options).max_attempts, j.losses, (j.options).max_losses)
  from qwf.jobs j
  where (p_only is null or j.status = p_only)
    and (j.failures > (j.options).max_attempts or j.losses > (j.options).max_losses)
  union all
  select 'a token is made for its job', 'job ' || j.id, j.token::text
  from qwf.jobs j
  where (p_only is null or j.status = p_only) and _qwf.job_of_token(j.token) <> j.id
  union all
  select 'the columns of a job agree with its state', 'job ' || j.id, j.status::text
  from qwf.jobs j
  where (p_only is null or j.status = p_only)
    and ((j.status = 'running') <> (j.token is not null)
      or (j.token is null) <> (j.lease_expires_at is null)
      or (j.status in ('completed', 'failed', 'cancelled', 'skipped'))
        <> (j.finished_at is not null)
      or j.begun and j.status in ('blocked', 'scheduled', 'queued')
      or case j.status
        when 'running' then num_nulls(j.claimed_by, j.started_at) > 0
        when 'queued' then num_nulls(j.position, j.queued_at, j.queue) > 0
        when 'scheduled' then j.run_at is null
        when 'blocked' then j.run_id is null
        when 'awaiting_input' then j.input_spec is null
        else false end)
  union all
  select 'the terms of a job are valid', 'job ' || j.id, format(
    'max_attempts %s, max_losses %s, timeout %s, stall_timeout %s, vram_mb %s, on_failure %s, '
    'run_if %s', (j.options).max_attempts, (j.options).max_losses, (j.options).timeout,
    (j.options).stall_timeout, j.vram_mb, j.on_failure, j.run_if)
  from qwf.jobs j
  where (p_only is null or j.status = p_only)
    and (least((j.options).max_attempts, (j.options).max_losses) < 1
      or least((j.options).timeout, (j.options).stall_timeout) <= '0 s'
      or j.vram_mb < 0 or j.on_failure not in ('fail', 'continue', 'ask')
      or j.run_if not in ('all_done', 'compensates'))
  union all
  select 'the labels of an unfinished job have at most 64 KiB', 'job ' || j.id,
    format('requires %s, labels %s bytes', octet_length(j.requires::text),
      octet_length(j.labels::text))
  from qwf.jobs j
  where (p_only is null or j.status = p_only) and j.finished_at is null
    and greatest(octet_length(j.requires::text), octet_length(j.labels::text)) > 65536
  union all
  select 'a job is standalone, a node, or an element', 'job ' || j.id,
    format('run %s, graph %s, node %s, parent %s, element %s',
      j.run_id, j.graph_id, j.node_idx, j.parent_id, j.element)
  from qwf.jobs j
  where (p_only is null or j.status = p_only)
    and (num_nulls(j.run_id, j.graph_id) = 1 or num_nulls(j.parent_id, j.element) = 1
      or (j.run_id is null and num_nonnulls(j.node_idx, j.parent_id) > 0)
      or (j.run_id is not null and num_nonnulls(j.node_idx, j.parent_id) <> 1))
  union all
  select 'the columns of a run agree with its state', 'run ' || r.id, r.status::text
  from qwf.runs r
  where p_only is null
    and ((r.status in ('completed', 'failed', 'cancelled')) <> (r.finished_at is not null)
      or (r.finished_at is not null and r.open_nodes > 0)
      or r.active_nodes + r.waiting_nodes > r.open_nodes)
$$;

-- Returns violated invariants of limits and their slots, from one snapshot. Takes no lock. A job
-- claimed while its queue got its first limit may run without a slot of that limit; a named
-- limit has no such gap. Jobs of a key that ran when its limit was lowered may be more than it.
create function _qwf.limit_invariants()
returns table (invariant text, subject text, detail text)
language sql stable
as $$
  select 'a slot is held exactly while its job runs', format('limit %s', s.limit_name),
    format('slot %s is held by job %s, which is %s', s.slot, s.job_id,
      coalesce(j.status::text, 'gone'))
  from qwf.limit_slots s left join qwf.jobs j on j.id = s.job_id
  where s.job_id is not null and j.status is distinct from 'running'
  union all
  select 'a slot is held by a job of its limit', format('limit %s', s.limit_name),
    format('slot %s is held by job %s of limit %s and queue %s', s.slot, j.id,
      coalesce(j.limit_by, 'none'), j.queue)
  from qwf.limit_slots s join qwf.jobs j on j.id = s.job_id
  where s.limit_name not in (coalesce(j.limit_by, ''), 'queue:' || j.queue)
  union all
  select 'a job holds one slot of a limit', format('job %s', s.job_id),
    format('%s slots of limit %s', count(*), s.limit_name)
  from qwf.limit_slots s
  where s.job_id is not null
  group by s.job_id, s.limit_name
  having count(*) > 1
  union all
  select 'a running limited job holds a slot', format('job %s', j.id),
    format('it holds none of limit %s', j.limit_by)
  from qwf.jobs j
  where j.status = 'running' and j.limit_by is not null and j.limit_place is null
    and not exists (
      select from qwf.limit_slots s where s.job_id = j.id and s.limit_name = j.limit_by)
  union all
  select 'a limit has its slots', format('limit %s', l.name),
    format('%s of %s slots', count(s.slot), l.max_running)
  from qwf.limits l
  left join qwf.limit_slots s on s.limit_name = l.name and s.slot <= l.max_running
  where not l.keyed
  group by l.name
  having count(s.slot) <> l.max_running
  union all
  select 'a limit has its starts', format('limit %s', l.name),
    format('%s of %s starts', count(t.place), l.starts)
  from qwf.limits l
  left join qwf.limit_starts t on t.limit_name = l.name and t.place <= l.starts
  where not l.keyed
  group by l.name
  having count(t.place) <> l.starts
  union all
  select 'no more jobs of a key run than its limit allows', format('key %s', j.limit_by),
    format('%s of %s', count(*), l.max_running)
  from qwf.jobs j
  join qwf.limits l on l.name = split_part(j.limit_by, ':', 1) and l.keyed
  where j.limit_place is not null and j.status in ('queued', 'running') and _qwf.line_of(j) is null
  group by j.limit_by, l.name
  having count(*) > l.max_running
    and coalesce(l.lowered_at + interval '10 s' < min(j.claimed_at), true)
  union all
  select 'the starts of a key belong to a limit with a rate', format('key %s', k.name),
    format('%s starts', cardinality(k.starts))
  from qwf.limit_keys k
  where k.ends_at > qwf.now() and not exists (
    select from qwf.limits l where l.name = split_part(k.name, ':', 1) and l.keyed)
  union all
  select 'the limit of a queue agrees with the queue', format('queue %s', q.name),
    format('queue %s, limit %s', q.max_running, l.max_running)
  from qwf.queues q left join qwf.limits l on l.name = 'queue:' || q.name
  where q.max_running is distinct from l.max_running
$$;

-- Returns violated invariants of jobs, their attempts and dependencies, from one snapshot.
create function _qwf.job_invariants() returns table (invariant text, subject text, detail text)
language sql stable
as $$
  with attempt as (
    select
      a.job_id,
      count(*) as written,
      count(*) filter (where a.outcome = 'completed') as completed,
      (array_agg(a.outcome order by a.attempt desc))[1] as last
    from qwf.job_attempts a
    group by a.job_id
  ), open as (
    select d.id from qwf.jobs d
    where d.run_id is not null
      and (d.finished_at is null or (d.elements is not null and d.remaining_deps > 0))
    union
    select o.job_id from qwf.outbox o
    where o.kind in ('completed', 'failed', 'cancelled') and o.poisoned_at is null
  ), blocked as (
    select j.* from qwf.jobs j join qwf.runs r on r.id = j.run_id and r.finished_at is null
    where j.status = 'blocked' and j.parent_id is null
  ), unsatisfied (job_id, count) as (  -- dependencies, or elements once a map is expanded
    select j.id, count(o.id)
    from blocked j
    join qwf.graph_edges e on e.graph_id = j.graph_id and e.to_idx = j.node_idx
    join qwf.jobs d on d.run_id = j.run_id and d.node_idx = e.from_idx
    left join open o on o.id = d.id
    where j.elements is null
    group by j.id
    union all
    select j.id, count(o.id)
    from blocked j join qwf.jobs e on e.parent_id = j.id left join open o on o.id = e.id
    where j.elements is not null
    group by j.id
  ), violation as (
    select 'every ended claim is an attempt' as invariant, j.id,
      format('%s claims, %s attempts, %s', j.attempt, coalesce(a.written, 0), j.status) as detail
    from qwf.jobs j left join attempt a on a.job_id = j.id
    where coalesce(a.written, 0) <> j.attempt - (j.status = 'running')::int
    union all
    select 'an outcome is written once', j.id,
      format('%s completed attempts, the last %s, %s', a.completed, a.last, j.status)
    from qwf.jobs j left join attempt a on a.job_id = j.id
    where a.completed > 1 + j.retries
      or (j.status = 'completed' and j.input_spec is null and j.elements is null
        and a.last is distinct from 'completed')
      or (j.status in ('failed', 'cancelled') and j.retries = 0 and a.completed > 0)
    union all
    select 'remaining_deps counts unsatisfied dependencies', j.id,
      format('%s, counted %s', j.remaining_deps, d.count)
    from qwf.jobs j join unsatisfied d on d.job_id = j.id
    where j.remaining_deps <> d.count
    union all
    select 'a node without open dependencies is opened', j.id, 'blocked with no dependency left'
    from qwf.jobs j join qwf.runs r on r.id = j.run_id and r.finished_at is null
    where j.status = 'blocked' and j.remaining_deps = 0 and j.parent_id is null
      and not exists (select from qwf.outbox o where o.job_id = j.id and o.kind = 'ready'
          and o.poisoned_at is null)
    union all
    select 'an outcome is one a worker can report', a.job_id, a.outcome
    from qwf.job_attempts a
    where a.outcome not in (
      'completed', 'error', 'fatal', 'tempfail', 'lost', 'released', 'cancelled')
    union all
    select 'the state of a key agrees with the job', j.id,
      format('%s, key_state %s, key %s', j.status, j.key_state, j.key)
    from qwf.jobs j
    where (j.key is null or j.once) <> (j.key_state = 'u') or j.key_state not in ('u', 'w', 's')
      or j.key_state = 'w' and j.status = 'running'
    union all
    select 'two jobs of a key never run at once', max(j.id),
      format('%s jobs of task %s run with key %s', count(*), j.task, j.key)
    from qwf.jobs j
    where j.key is not null and j.status = 'running'
    group by j.project, j.task, j.key
    having count(*) > 1
    union all
    select 'a node has its run', j.id, format('run %s is gone', j.run_id)
    from qwf.jobs j
    where j.run_id is not null and not exists (select from qwf.runs r where r.id = j.run_id)
  )
  select v.invariant, 'job ' || v.id, v.detail from violation v
$$;

-- Returns violated invariants of what is kept beside its source: errors, live logs, places in
-- lines, the lease and the timeout in the row of a queue, what jobs wait for, next_element of
-- maps, what was erased, checkpoints, progress and tracked numbers. A standby cannot read live
-- logs, and says nothing of them. A follower may ask for the log of a job that is deleted at
-- that moment: its row counts when prune should have deleted it.
create function _qwf.kept_invariants() returns table (invariant text, subject text, detail text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    select 'an error has at most max_error_bytes', 'job ' || e.id,
      format('%s bytes', octet_length(e.error))
    from (
      select j.id, j.last_error as error from qwf.jobs j
      union all
      select a.job_id, a.error from qwf.job_attempts a) e
    where octet_length(e.error) > 262144  -- the setting may have been lowered
      and length(e.error) > (select s.max_error_bytes from qwf.settings s);
  return query
    select 'a job has a place in a line if its limit counts by key', format('job %s', j.id),
      format('limit %s, place %s', j.limit_by, coalesce(j.limit_place::text, 'none'))
    from qwf.jobs j
    where j.status in ('queued', 'running', 'scheduled', 'blocked') and j.limit_by is not null
      and j.limit_place is distinct from _qwf.limit_place(j.limit_by);
  return query
    select 'a queue has the lease and the timeout that are in force', 'queue ' || q.name,
      format('%s, %s', q.effective_lease, q.effective_timeout)
    from qwf.queues q cross join qwf.settings s
    where (q.effective_lease, q.effective_timeout)
      is distinct from (coalesce(q.lease, s.lease), coalesce(q.timeout, s.timeout));
  return query
    select 'waits has what jobs wait for', 'job ' || coalesce(w.job_id, j.job_id),
      format('%s since %s until %s, has %s since %s until %s',
        coalesce(j.kind, 'nothing'), j.since, j.at, coalesce(w.kind, 'nothing'), w.since, w.at)
    from (select x.* from qwf.jobs b cross join lateral _qwf.waits_of(b) x) j
    full join qwf.waits w on w.job_id = j.job_id and w.kind = j.kind
    where (j.job_id, j.kind, j.since, j.at, j.project, j.name)
      is distinct from (w.job_id, w.kind, w.since, w.at, w.project, w.name);
  return query
    select 'no element before next_element of its map is blocked', 'job ' || j.id,
      format('element %s, next_element %s of job %s', j.element, m.next_element, m.id)
    from qwf.jobs j join qwf.jobs m on m.id = j.parent_id
    where j.status = 'blocked' and (j.element >= m.next_element) is not true;
  return query
    select 'an erased job has ended', 'job ' || j.id, format('%s, erased: %s', j.status,
      array_to_string(j.erased_parts, ', '))
    from qwf.jobs j
    where j.erased_parts is not null and j.finished_at is null;
  return query
    select 'a checkpoint is of an attempt that its job has had', 'job ' || c.job_id,
      format('attempt %s of %s', c.attempt, coalesce(j.attempt::text, 'a job that is gone'))
    from qwf.checkpoints c left join qwf.jobs j on j.id = c.job_id
    where (c.attempt between 1 and j.attempt) is not true;
  return query
    select 'progress is of an attempt that its job has had', 'job ' || p.job_id,
      format('attempt %s of %s', p.attempt, coalesce(j.attempt::text, 'a job that is gone'))
    from qwf.job_progress p left join qwf.jobs j on j.id = p.job_id
    where (p.attempt between 0 and j.attempt) is not true;
  return query
    select 'tracked numbers are of an attempt that their job has had', 'job ' || s.job_id,
      format('attempt %s of %s', s.attempt, coalesce(j.attempt::text, 'a job that is gone'))
    from qwf.attempt_series s left join qwf.jobs j on j.id = s.job_id
    where (s.attempt between 1 and j.attempt) is not true;
  if not pg_is_in_recovery() then
    return query
      select 'a live log has its job', 'job ' || l.job_id, 'the job is gone'
      from qwf.live_logs l
      where l.followed_until < qwf.now() - interval '1 day'
        and not exists (select from qwf.jobs j where j.id = l.job_id);
  end if;
end $$;
