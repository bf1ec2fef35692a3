-- Deploy qwf:functions/claim/_wake_overlooked
-- Purpose: Wakes sleepers for jobs that they could take and that nobody took. Their wake-up was
--   lost, or the job fits them only now. So sleepers need not poll often.
-- Guarantees: Wakes at most two sleepers of a queue, because one may have died, chosen at random
--   from sixteen. Looks at the first jobs of the queue only, so that it costs no more if nobody can
--   take them. Skips a job queued less than 0.2 seconds ago, which has woken somebody already. A
--   job that waits for something else, such as a limit, wakes two sleepers in vain each second.
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

commit;
