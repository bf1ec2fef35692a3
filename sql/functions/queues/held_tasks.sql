-- Tasks that crash are held back, and tried again one job at a time. Locks: rows of held_tasks,
-- the job of the trial, then the workers, by id.

-- Writes into the workers which tasks are held back on their queues: claim reads their rows
-- anyway. Never waits: the caller holds rows of held_tasks, and a transaction that holds the row
-- of a worker may report a crash next. The next tick tells a worker that was locked.
-- Locks: the workers that are free, by id.
create function _qwf.spread_holds() returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  update qwf.workers w set held_tasks = free.held
  from (
    select l.id, t.held
    from qwf.workers l
    left join (
      select h.queue, array_agg(h.task order by h.task) as held
      from qwf.held_tasks h where h.until is not null group by h.queue) t on t.queue = l.queue
    where l.stopped_at is null and l.held_tasks is distinct from t.held
    order by l.id
    for no key update of l skip locked
  ) free
  where w.id = free.id
$$;

-- Ends the time for which tasks of a queue are held back: the next tick lets one job of each run
-- alone. Returns how many these are.
-- Locks: the rows of held_tasks, by task.
create function _qwf.free_tasks(p_queue text, p_tasks text[]) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := qwf.now();
  v_count int;
begin
  update qwf.held_tasks h set until = least(h.until, v_now)
  from (
    select l.queue, l.task from qwf.held_tasks l
    where l.queue = p_queue and l.task = any (p_tasks) and l.until is not null
    order by l.task for no key update) held
  where h.queue = held.queue and h.task = held.task;
  get diagnostics v_count = row_count;
  return v_count;
end $$;

-- Lets one waiting job of a task that was held back long enough run alone, and ends the hold
-- when this job has ended in any other way than a crash. Looks at the first 10,000 waiting jobs
-- of the queue, without a limit and with one: those of a held task come there, as the others are
-- taken. Forgets after an hour a task that has crashed and is not held. Workers that have
-- registered meanwhile learn what is held. Returns how many holds have ended.
-- Locks: the rows of held_tasks, the job and the workers, if nobody else has locked them.
-- Notifies: sleepers of the queue.
create function _qwf.try_held_tasks() returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_task qwf.held_tasks;
  v_job qwf.jobs;
  v_back text[] := '{}';  -- queues of tasks that are not held any more
begin
  for v_task in
    select h.* from qwf.held_tasks h order by h.queue, h.task for update skip locked
  loop
    select j.* into v_job from qwf.jobs j where j.id = v_task.trial_job;
    if v_task.until is null and v_task.crashed_at > v_now - interval '1 h'
      or v_task.until > v_now
      or v_job.status = 'running' and v_job.attempt = v_task.trial_attempt
      or v_job.status = 'queued' and v_job.queue = v_task.queue and v_job.run_next
        and v_job.attempt < v_task.trial_attempt
    then
      null;
    elsif v_task.until is null
      or v_task.trial_job is not null
        and (v_job.id is null or v_job.attempt >= v_task.trial_attempt)
    then
      delete from qwf.held_tasks h where h.queue = v_task.queue and h.task = v_task.task;
      if v_task.until is not null then
        v_back := v_back || v_task.queue;
        insert into _qwf.event_log (at, kind, subject, names, detail)
        values (v_now, 'task_back', v_task.task,
          jsonb_build_object('task', v_task.task, 'queue', v_task.queue),
          jsonb_build_object('queue', v_task.queue, 'hosts', v_task.hosts));
      end if;
    else
      select j.* into v_job
      from qwf.jobs j
      where j.status = 'queued' and j.task = v_task.task and j.id = any (array(
        select h.id from (
          (select q.id, q.task, q.priority, q.position from qwf.jobs q
          where q.queue = v_task.queue and q.status = 'queued' and q.limit_by is null
          order by q.run_next desc, q.priority, q.position limit 10000)
          union all
          (select q.id, q.task, q.priority, q.position from qwf.jobs q
          where q.queue = v_task.queue and q.status = 'queued' and q.limit_by is not null
          limit 10000)
        ) h
        where h.task = v_task.task
        order by h.priority, h.position limit 100))
      order by j.priority, j.position
      limit 1 for no key update skip locked;
      update qwf.jobs j set run_next = true where j.id = v_job.id;
      update qwf.held_tasks h set trial_job = v_job.id, trial_attempt = v_job.attempt + 1
      where h.queue = v_task.queue and h.task = v_task.task;
      perform _qwf.wake(v_task.queue, 1) where v_job.id is not null;
    end if;
  end loop;
  perform _qwf.spread_holds();
  perform _qwf.wake(b.queue, 16) from unnest(v_back) b (queue);
  return cardinality(v_back);
end $$;

-- Takes the jobs of held tasks out of a count of queued jobs: they wait on purpose. Looks at the
-- first 10,000 jobs without a limit and at as many with one.
create function _qwf.without_held(p_queue text, p_count _qwf.queued_count)
returns _qwf.queued_count
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tasks text[] := (
    select array_agg(h.task) from qwf.held_tasks h
    where h.queue = p_queue and h.until is not null);
  v_held bigint;
  v_others bigint;
begin
  if v_tasks is null then
    return p_count;
  end if;
  with head as (
    (select j.* from qwf.jobs j
    where j.queue = p_queue and j.status = 'queued' and j.limit_by is null
    order by j.run_next desc, j.priority, j.position limit 10000)
    union all
    (select j.* from qwf.jobs j
    where j.queue = p_queue and j.status = 'queued' and j.limit_by is not null limit 10000)
  ), waiting as (
    select h.id, h.queued_at, h.task = any (v_tasks) and not h.run_next as held,
      row_number() over (order by h.run_next desc, h.priority, h.position) as nth
    from head h
  )
  select count(*) filter (where w.held), count(*) filter (where not w.held),
    (array_agg(w.id order by w.nth) filter (where not w.held))[1],
    (array_agg(w.queued_at order by w.nth) filter (where not w.held))[1],
    min(w.queued_at) filter (where not w.held)
    into v_held, v_others, p_count.head, p_count.head_since, p_count.oldest_since
  from waiting w;
  p_count.queued := greatest(p_count.queued - v_held, sign(v_others)::bigint)::int;
  return p_count;
end $$;

-- Returns in words that a task is held back; null if it is not.
create function _qwf.spell_hold(p_hold qwf.held_tasks, p_until text) returns text
language sql stable
as $$
  select format('%s crashed on %s: %s', p_hold.task, array_to_string(p_hold.hosts, ', '), case
    when p_hold.trial_job is not null then format('job %s of it runs alone first', p_hold.trial_job)
    when p_hold.until > qwf.now() then 'held until ' || p_until
    else 'its next job runs alone first' end)
  where p_hold.until is not null
$$;
