-- Deploy qwf:functions/upkeep/_try_held_tasks
-- Purpose: Lets one waiting job of a task that was held back long enough run alone, and ends the
--   hold when this job has ended in any other way than a crash.
-- Guarantees: Looks at the first 10,000 waiting jobs of the queue, without a limit and with one:
--   those of a held task come there, as the others are taken. Forgets after an hour a task that has
--   crashed and is not held. Workers that have registered meanwhile learn what is held. Returns how
--   many holds have ended.
-- Locks: the rows of held_tasks, the job and the workers, if nobody else has locked them.
-- Notifies: sleepers of the queue.
-- Called by: _tick_part.

begin;

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

commit;
