-- Waiting jobs changed. Locks: the new limit, the run or the job for notify, then the jobs that
-- are free, by id.

create type qwf.job_verdict as (
  job_id bigint, verdict text, code text, message text, detail text, hint text);
comment on type qwf.job_verdict is
  'Answer about one job of a list: retried, cancelled, requested (its worker was told to stop it), '
  'changed or refused; code (SQLSTATE), message, detail and hint say why it was refused.';

-- Changes priority, queue, limit or time of a waiting job, or puts it before all others; or
-- names the receiver notified about an unfinished job or run. A null argument changes nothing,
-- an empty limit_by or notify removes it. A run_at in the past makes the job queued. With
-- run_next it is due now and the next of its queue, until it is claimed. For a node, notify is
-- that of its run.
-- Locks: the new limit, against being dropped; for notify the run, or the job; then the job, if
--   it is free.
-- Notifies: a sleeper of the queue.
create function qwf.change_job(
  job_id bigint, priority int default null, queue text default null,
  run_at timestamptz default null, run_next boolean default false, notify text default null,
  limit_by text default null)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_next boolean := coalesce(change_job.run_next, false);
begin
  perform _qwf.check_change(array[change_job.job_id], change_job.queue, change_job.run_at, v_next,
    change_job.limit_by);
  if change_job.notify is not null then
    perform _qwf.change_notify(change_job.job_id, change_job.notify);
    if num_nonnulls(change_job.priority, change_job.queue, change_job.run_at,
      change_job.limit_by) = 0 and not v_next
    then
      return;
    end if;
  end if;
  if _qwf.change_waiting(array[change_job.job_id], change_job.priority, change_job.queue,
    change_job.run_at, v_next, change_job.limit_by) = '{}' then
    perform _qwf.raise_not_waiting(change_job.job_id);
  end if;
end $$;
comment on function qwf.change_job is
  'Changes priority, queue, run_at or limit_by ('''': none) of a queued or scheduled job, or makes '
  'it the next of its queue. notify: the receiver of that name is told when the job fails for good '
  'or asks; of a node, when its run ends or asks; '''': nobody is told. QW001 no such job or '
  'limit, QW002 it is not waiting (for notify: it is over), QW005 invalid time or receiver, QW006 '
  'unknown queue.';
call _qwf.allow('qwf.change_job', 'qwf_producer');

-- Refuses a queue or a limit that does not exist, a limit inside itself, a time that no client
-- can read, and a time for a job that runs next.
-- Locks: the limit, against being dropped.
-- Raises: QW001 unknown limit, QW005 a limit that counts by key without a key or is inside
--   itself, invalid time or a time with run_next, QW006 unknown queue.
create function _qwf.check_change(
  p_jobs bigint[], p_queue text, p_run_at timestamptz, p_run_next boolean, p_limit_by text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_inside record;
begin
  if not _qwf.is_readable_time(p_run_at) then
    raise exception using errcode = 'QW005', message = 'invalid time',
      detail = format('run_at: %s', p_run_at),
      hint = 'give a time within the years 1 to 9999, or infinity';
  elsif p_queue is not null and (starts_with(p_queue, 'qwf.')
    or not exists (select from qwf.queues q where q.name = p_queue))
  then
    perform _qwf.raise_unknown_queue(p_queue);
  elsif p_run_next and p_run_at is not null then
    raise exception using errcode = 'QW005', message = 'run_next excludes run_at',
      detail = format('run_at: %s', p_run_at),
      hint = 'a job that runs next is due now: leave out one of them';
  end if;
  if p_limit_by <> '' then
    perform _qwf.lock_limits(p_limit_by);
    perform _qwf.check_limit('', p_limit_by);  -- a new statement: it sees what was waited for
    select j.id, i.node into v_inside
    from qwf.jobs j
    left join qwf.runs r on r.parent_id = j.id and j.run_id is null  -- in line
    left join qwf.graph_nodes n on n.graph_id = j.graph_id and n.idx = j.node_idx
    cross join lateral (
      select case when p_limit_by = any (_qwf.limits_above(j.run_id)) then 'a run above it holds it'
        else _qwf.limit_inside(coalesce(r.graph_id, n.child_graph_id), array[p_limit_by])
          || ' needs it, too' end as node) i
    where j.id = any (p_jobs) and (j.run_id is not null or j.queue = 'qwf.runs')
      and i.node is not null
    order by j.id limit 1;
    if found then
      raise exception using errcode = 'QW005', message = 'a limit inside itself',
        detail = format('job %s, limit_by %s: %s', v_inside.id, p_limit_by, v_inside.node),
        hint = 'give it another limit: it would wait for itself';
    end if;
  end if;
end $$;

-- Names the receiver that is told about a job; of a node, about its run. An empty name: nobody
-- is told. Holds for events that get their numbers after it. It writes one row, however many
-- nodes the run has: events of a run ask the run first. A receiver that was named before is told
-- no more, and the event `changed` says who it was.
-- Locks: the run, or the job that is in none.
-- Raises: QW001 for an unknown job, QW002 if the job or run is over, QW005 for what cannot be
--   the name of a receiver.
create function _qwf.change_notify(p_job bigint, p_receiver text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_over constant text[] := '{completed,failed,cancelled,skipped}';
  v_run bigint;
  v_status text;
  v_labels jsonb;
  v_new jsonb;
begin
  select j.run_id into v_run from qwf.jobs j where j.id = p_job;
  if not found then
    perform _qwf.raise_not_waiting(p_job);
  elsif v_run is not null then
    select r.status::text, r.labels into v_status, v_labels
    from qwf.runs r where r.id = v_run for no key update;
  else
    select j.status::text, j.labels into v_status, v_labels
    from qwf.jobs j where j.id = p_job for no key update;
  end if;
  if v_status is null then  -- deleted since it was looked up
    perform _qwf.raise_not_waiting(p_job);
  elsif v_status = any (v_over) then
    raise exception using errcode = 'QW002',
      message = case when v_run is null then 'the job is over' else 'the run is over' end,
      detail = format('%s is %s', coalesce('run ' || v_run, 'job ' || p_job), v_status),
      hint = 'nothing more happens to it that somebody could be told';
  end if;
  if v_labels -> 'qwf.notify' is not distinct from to_jsonb(nullif(p_receiver, '')) then
    return;
  end if;
  v_new := case when p_receiver = '' then v_labels - 'qwf.notify'
    else _qwf.with_notify(v_labels, p_receiver) end;
  if v_run is not null then
    update qwf.runs r set labels = v_new where r.id = v_run;
  else
    update qwf.jobs j set labels = v_new where j.id = p_job;
  end if;
  insert into _qwf.event_log (at, run_id, job_id, kind, detail)
  values (qwf.now(), v_run, case when v_run is null then p_job end, 'changed', _qwf.difference(
    jsonb_build_object('notify', v_labels -> 'qwf.notify'),
    jsonb_build_object('notify', v_new -> 'qwf.notify')));
end $$;

-- Raises why a job cannot be changed: there is none, or it does not wait in a queue.
-- Raises: QW001, QW002; always one of them.
create function _qwf.raise_not_waiting(p_job_id bigint) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_why qwf.job_verdict;
begin
  select r.* into v_why from _qwf.refusals('change', array[p_job_id], '{}') r;
  raise exception using errcode = v_why.code, message = v_why.message,
    detail = v_why.detail, hint = v_why.hint;
end $$;

-- Changes those of some jobs that are queued or scheduled, and returns their ids. Never waits: a
-- job that is being claimed no longer counts as waiting. With p_run_next a job comes before all
-- others in its queue until it is claimed, and no debounce moves it to later. A guarded node
-- that was never tried stays scheduled, because _promote_due opens it. A job that waits holds
-- nothing of a limit; the next claim counts. A job of the engine stays in its queue: no worker
-- could run it.
-- Locks: the jobs that are free, by id.
-- Notifies: sleepers of the queues.
create function _qwf.change_waiting(
  p_jobs bigint[], p_priority int, p_queue text, p_run_at timestamptz, p_run_next boolean,
  p_limit_by text)
returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_material = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz := qwf.now();
  v_changed bigint[];
begin
  with free as materialized (
    select j.id, j.status, j.run_at, jsonb_build_object('priority', j.priority, 'queue', j.queue,
        'run_at', j.run_at, 'run_next', j.run_next, 'limit_by', j.limit_by) as old,
      j.status = 'scheduled' and j.guarded and j.attempt = 0 as unopened
    from qwf.jobs j
    where j.id = any (p_jobs)
      and j.status::text in ('queued', 'scheduled')  -- written so as not to use jobs_due_or_failed
      and (p_queue is null or coalesce(j.queue, '') not like 'qwf.%')
    order by j.id
    for no key update skip locked
  ), due as (
    select f.id, f.status, f.old, f.unopened, f.unopened or not p_run_next and coalesce(
      coalesce(p_run_at, case when f.status = 'scheduled' then f.run_at end) > v_now, false)
      as later
    from free f
  ), placed as materialized (
    select d.id, d.old, d.unopened, d.later,
      case when d.status = 'scheduled' and not d.later then _qwf.next_position() end as position
    from (select s.* from due s order by s.id) d
  ), changed as (
    update qwf.jobs j set
      priority = coalesce(p_priority, j.priority), run_next = j.run_next or p_run_next,
      queue = case when j.queue is null then null else coalesce(p_queue, j.queue) end,
      limit_by = nullif(coalesce(p_limit_by, j.limit_by), ''),
      limit_place = case when p_limit_by is null then j.limit_place
        else _qwf.limit_place(nullif(p_limit_by, '')) end,
      run_at = case when p.unopened and p_run_next then v_now
        else coalesce(p_run_at, j.run_at) end,
      options.start_by = case
        when p_run_at is null and not p_run_next then (j.options).start_by end,
      status = case when p.later then 'scheduled' else 'queued' end::qwf.job_status,
      -- a job that waits for its next attempt has lost its position, one at the front too
      position = case when not p.later then coalesce(p.position, j.position) end,
      -- kept if the job is moved to later: an element that had a slot of max_parallel keeps it
      queued_at = case when p.position is null then j.queued_at else v_now end
    from placed p
    where j.id = p.id
    returning j.id, j.run_id, j.queue, p.later, _qwf.difference(p.old, jsonb_build_object(
      'priority', j.priority, 'queue', j.queue, 'run_at', j.run_at, 'run_next', j.run_next,
      'limit_by', j.limit_by))
      as difference
  ), event as (
    insert into _qwf.event_log (at, run_id, job_id, kind, detail)
    select v_now, c.run_id, c.id, 'changed', c.difference
    from changed c where c.difference is not null
  ), woken as (
    select _qwf.wake(c.queue, count(*)::int) from changed c
    where not c.later or p_run_next
    group by c.queue
  )
  select coalesce(array_agg(c.id order by c.id), '{}') into v_changed
  from changed c
  where (select count(*) from woken) >= 0;  -- a CTE that is not read does not run
  return v_changed;
end $$;

-- Changes priority, queue, limit or time of many waiting jobs, or puts them before all others.
-- One row for each job of the list. A job that does not wait, or is being claimed, is refused
-- and does not keep the others from being changed. A null argument changes nothing; an empty
-- limit_by takes the jobs out of their limit. What is wrong with an argument is raised, and
-- nothing changes.
-- Locks: the new limit, against being dropped; the jobs that are free, by id. Waits for no
--   claim.
-- Notifies: sleepers of the queues.
create function qwf.change_jobs(
  jobs bigint[], priority int default null, queue text default null,
  run_at timestamptz default null, run_next boolean default false,
  limit_by text default null)
returns setof qwf.job_verdict
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_next boolean := coalesce(change_jobs.run_next, false);
  v_changed bigint[];
begin
  perform _qwf.check_listed(change_jobs.jobs);
  perform _qwf.check_change(change_jobs.jobs, change_jobs.queue, change_jobs.run_at, v_next,
    change_jobs.limit_by);
  if num_nonnulls(change_jobs.priority, change_jobs.queue, change_jobs.run_at,
    change_jobs.limit_by) = 0 and not v_next
  then
    raise exception using errcode = 'QW005', message = 'nothing to change',
      detail = 'priority, queue, run_at and limit_by are null, and run_next is not true',
      hint = 'give at least one of them';
  end if;
  v_changed := _qwf.change_waiting(change_jobs.jobs, change_jobs.priority, change_jobs.queue,
    change_jobs.run_at, v_next, change_jobs.limit_by);
  return query
    select u.id, 'changed', null::text, null::text, null::text, null::text
    from unnest(v_changed) u (id);
  return query select * from _qwf.refusals('change', change_jobs.jobs, v_changed);
end $$;
comment on function qwf.change_jobs is
  'Changes priority, queue, run_at or limit_by ('''': none) of at most 1000 queued or scheduled '
  'jobs, or makes them the next of their queues, and returns a verdict for each: changed or '
  'refused; a refused job does not stop the others. QW001 no such limit, QW005 too many jobs, '
  'invalid time or nothing to change, QW006 unknown queue.';
call _qwf.allow('qwf.change_jobs', 'qwf_producer');
