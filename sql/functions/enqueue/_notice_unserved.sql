-- Deploy qwf:functions/enqueue/_notice_unserved
-- Purpose: Tells a producer that no live worker serves the queue, that none of them works for the
--   project, that none has a task, or that a task is held back.
-- Guarantees: Only a notice: the job waits until a worker comes. Names ten tasks at most.
-- Called by: enqueue, enqueue_many.

begin;

create function _qwf.notice_unserved(p_queue text, p_tasks text[], p_project text)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_live qwf.workers[] := array(
    select w from qwf.workers w cross join qwf.settings s
    where w.queue = p_queue and w.stopped_at is null and w.last_seen > qwf.now() - s.worker_stale
    limit 100);
  v_task text;
  v_hold text;
begin
  if v_live = '{}' then
    raise notice using message = format('no live worker serves queue %s', p_queue),
      hint = format('the job waits until one does: qwf agent --queue %s', p_queue);
    return;
  end if;
  v_live := array(select w from unnest(v_live) w where w.project is null or w.project = p_project);
  if v_live = '{}' then
    raise notice using
      message = format('no live worker of queue %s works for %s', p_queue,
        coalesce('project ' || nullif(p_project, ''), 'jobs without a project')),
      hint = format('the job waits until one does: qwf agent --queue %s%s', p_queue,
        coalesce(' --project ' || nullif(p_project, '')));
    return;
  end if;
  foreach v_task in array p_tasks[:10] loop
    select _qwf.spell_hold(h, h.until::text) into v_hold
    from qwf.held_tasks h where h.queue = p_queue and h.task = v_task and h.until is not null;
    if found then
      raise notice using message = v_hold, hint = format(
        'the job waits until then; mend the task, then: qwf queue resume %s --task %s', p_queue,
        v_task);
      continue;
    end if;
    raise notice using
      message = format('no live worker of queue %s has task %L', p_queue, left(v_task, 100)),
      hint = coalesce(_qwf.did_you_mean(v_task,
          array(select distinct t from unnest(v_live) w, unnest(w.tasks) t limit 1000)),
        'the job waits until one does: start an agent that has it, or cancel the job');
  end loop;
end $$;

commit;
