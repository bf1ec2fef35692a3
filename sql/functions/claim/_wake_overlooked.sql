-- Deploy qwf:functions/claim/_wake_overlooked
-- Purpose: Wakes sleepers for work that lies there though they could take it: their wake-up got
--   lost, or it is time that made them fit. So sleepers need not look often, each for itself.
-- Guarantees: At most two sleepers of a queue, at random, as one may have died: of sixteen, for the
--   first jobs of the queue, so that it costs no more where nobody can take them. A job that was
--   queued a moment ago has woken somebody already. One that waits for something else, like a
--   limit, costs two looks a second.
-- Notifies: the channels of the sleepers.
-- Called by: _rest_when_idle.

begin;

create function _qwf.wake_overlooked() returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_count int;
begin
  perform pg_notify(qwf.wake_channel(chosen.worker), q.name)
  from qwf.queues q
  cross join lateral (
    select asleep.worker
    from (
      (select j as job from qwf.jobs j
        where j.queue = q.name and j.status = 'queued' and j.limit_by is null
        order by j.run_next desc, j.priority, j.position limit 64)
      union all
      (select j from qwf.jobs j
        where j.queue = q.name and j.status = 'queued' and j.limit_by is not null limit 64)
    ) head
    cross join (
      select s.worker, w as registered
      from qwf.sleepers s left join qwf.workers w on w.id = s.worker
      where s.queue = q.name and s.since > v_now - interval '15 s'
      order by random()
      limit 16
    ) asleep
    where (head.job).queued_at < v_now - interval '0.2 s'
      and _qwf.fits(head.job, asleep.registered, v_now)
    limit 2
  ) chosen
  where not q.paused
    and exists (select from qwf.sleepers s where s.queue = q.name);
  get diagnostics v_count = row_count;
  return v_count;
end $$;

commit;
