-- Deploy qwf:functions/upkeep/_try_held_tasks
-- Purpose: Lets one waiting job of a task that was held back long enough run alone, and ends the
--   hold when this job has ended in any other way than a crash.
-- Guarantees: Looks at the first 10,000 waiting jobs of the queue, without a limit and with one:
--   those of a held task come there, as the others are taken. Forgets after an hour a task that has
--   crashed and is not held. Workers that have registered meanwhile learn what is held. Returns how
--   many holds have ended.
-- Locks: the rows of held_tasks and the job, if nobody else has locked them; then the workers.
-- Notifies: sleepers of the queue.
-- Called by: _tick_part.

begin;

create function _qwf.try_held_tasks() returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := qwf.now();
  v_task qwf.held_tasks;
  v_job qwf.jobs;
  v_count int := 0;
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
        v_count := v_count + 1;
        insert into _qwf.event_log (at, kind, subject, names, detail)
        values (v_now, 'task_back', v_task.task,
          jsonb_build_object('task', v_task.task, 'queue', v_task.queue),
          jsonb_build_object('queue', v_task.queue, 'hosts', v_task.hosts));
        perform _qwf.spread_holds(v_task.queue), _qwf.wake(v_task.queue, 16);
      end if;
    else
      v_job := _qwf.first_of_task(v_task.queue, v_task.task);
      update qwf.jobs j set run_next = true where j.id = v_job.id;
      update qwf.held_tasks h set trial_job = v_job.id, trial_attempt = v_job.attempt + 1
      where h.queue = v_task.queue and h.task = v_task.task;
      perform _qwf.wake(v_task.queue, 1) where v_job.id is not null;
    end if;
    perform _qwf.spread_holds(v_task.queue) where v_task.until is not null;
  end loop;
  return v_count;
end $$;

commit;
