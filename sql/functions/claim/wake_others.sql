-- Sleepers woken by a claim that leaves work, and by ticks that find sleepers overlooked.

-- Wakes one sleeper that could take a job which a claim has left: any of them if it found as
-- many as it asked for, or as many of limits with a rate as its worker could begin; else one
-- that this worker cannot take, or not ahead, because it runs at most once. Wakes only a sleeper
-- that fell asleep before the job was queued. Once it has looked it falls asleep again, so that
-- each sleeper is woken once for a job, and the chain ends. Looks at the first 64 jobs; a job it
-- misses is found by a poll.
-- Locks: the row of the sleeper in hash_locks, tried only.
-- Notifies: the channel of the sleeper.
create function _qwf.wake_another(
  p_queue text, p_worker qwf.workers, p_now timestamptz, p_asked int, p_found int,
  p_pick _qwf.special_pick)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_found = p_asked or p_pick.capped then
    perform _qwf.wake(p_queue, 1);  -- there may be more
  end if;
  if p_found = p_asked or p_pick.capped or p_found = p_pick.room then
    return;
  end if;
  if exists (select from _qwf.floors f where f.queue = p_queue and f.until > p_now)
    or not exists (
      select from qwf.jobs j
      where j.queue = p_queue and j.status = 'queued' and j.limit_by is null)
  then
    return;  -- no job is left, or the walk would pass claimed ones: see _find_floors
  end if;
  perform pg_notify(qwf.wake_channel(chosen.worker), p_queue)
  from (
    select asleep.worker
    from (
      select j as job
      from qwf.jobs j
      where j.queue = p_queue and j.status = 'queued' and j.limit_by is null
      order by j.run_next desc, j.priority, j.position
      limit 64
    ) head
    cross join lateral (
      select s.worker
      from qwf.sleepers s
      left join qwf.workers w on w.id = s.worker
      where s.queue = p_queue and s.since > p_now - interval '15 s'
        and s.since < (head.job).queued_at and s.worker is distinct from p_worker.id
        and _qwf.fits(head.job, w, p_now)
      limit 1
    ) asleep
    where (not _qwf.fits(head.job, p_worker, p_now) or (head.job).begun is not null)
      and (select true from _qwf.hash_locks h
        where h.number = hashtext(asleep.worker) & 4095 | 16384 for update skip locked)
    limit 1
  ) chosen;
end $$;

-- Wakes sleepers for jobs that they could take and that nobody took. Their wake-up was lost, or
-- the job fits them only now. So sleepers need not poll often. Wakes at most two sleepers of a
-- queue, because one may have died, chosen at random from sixteen. Looks at the first jobs of
-- the queue only, so that it costs no more if nobody can take them. Skips a job queued less than
-- 0.2 seconds ago, which has woken somebody already. A job that waits for something else, such
-- as a limit, wakes two sleepers in vain each second.
-- Notifies: the channels of the sleepers.
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
        where j.queue = q.name and j.status = 'queued' and j.limit_by is not null
          and j.limit_place is null limit 64)
      union all
      (select j from qwf.jobs j  -- from anywhere in the line: the first keys may have no room
        where _qwf.line_of(j) = q.name
          and _qwf.band_of(j) = (select b.band from _qwf.next_band(q.name, null) b)
          and j.limit_place > hashtextextended(v_now::text, 0)
          and j.status in ('queued', 'running') limit 64)
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
