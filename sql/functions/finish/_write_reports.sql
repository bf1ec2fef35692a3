-- Deploy qwf:functions/finish/_write_reports
-- Purpose: Locks the attempts that reports of any kind are about, and writes their end: the jobs,
--   the attempts and the statistics.
-- Guarantees: The fence: only a report with the job's current token changes anything
--   (_lock_attempts). All rows of one call end together. A completed job that leaves no row is
--   deleted, unless it wrote files. Returns p_ended and what has ended now.
-- Locks: the jobs, by id; cancel_requests of these jobs that are free.
-- Notifies: sleepers of the queues that got work back.
-- Called by: _end_attempts.

begin;

create function _qwf.write_reports(p_reports _qwf.report[], p_ended _qwf.finished)
returns _qwf.finished
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_material = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_settings qwf.settings := (select s from qwf.settings s);
  v_held _qwf.held[] := _qwf.lock_attempts(p_reports);
  v_ended _qwf.ended[];
  v_all _qwf.finished := p_ended;
  v_dropped bigint[];
begin
  if v_held = '{}' then
    return v_all;
  end if;
  v_held := _qwf.weigh_outcomes(v_held, v_now);
  v_ended := _qwf.write_ended(v_held, v_now, v_settings);
  perform _qwf.record_attempts(v_held, v_now, v_settings), _qwf.record_unusual(v_ended, v_now);
  perform _qwf.wake(e.queue, count(*)::int)
  from unnest(v_ended) e where e.status = 'queued' group by e.queue;
  perform _qwf.add_waits(v_troubled), _qwf.announce_trouble(v_troubled)
  from (select array_agg(e.id) from unnest(v_ended) e
    where e.status in ('failed', 'awaiting_input')) t (v_troubled)
  where v_troubled is not null;
  delete from qwf.cancel_requests c
  using (  -- tick() deletes those that somebody has locked
    select r.job_id
    from unnest(v_ended) e join qwf.cancel_requests r on r.job_id = e.id
    where e.status in ('completed', 'failed', 'cancelled')
    for update of r skip locked
  ) free
  where c.job_id = free.job_id;
  select
    coalesce(v_all.count, 0) + count(*), v_all.ids || array_agg(e.id),
    v_all.keys || array_agg((j.project, j.task, j.key)::_qwf.job_key)
      filter (where e.status <> 'queued' and j.key_state = 's' and j.run_id is null),
    v_all.events || array_agg((e.run_id, e.id, case
        when e.status in ('queued', 'scheduled') then 'requeued'
        when e.status = 'awaiting_input' then 'asked'
        else e.status::text end)::_qwf.event) filter (where e.run_id is not null),
    v_all.places || array_agg(j.limit_place) filter (where j.limit_place is not null)
    into v_all.count, v_all.ids, v_all.keys, v_all.events, v_all.places
  from unnest(v_ended) e join qwf.jobs j on j.id = e.id;
  select array_agg(h.id), v_all.dropped || array_agg(h.token) into v_dropped, v_all.dropped
  from unnest(v_held) h join qwf.queues q on q.name = h.queue
  where h.outcome = 'completed' and not q.keep_completed and h.run_id is null and not h.once
    and coalesce(h.detail -> 'files', 'null') in ('[]', 'null');
  if v_dropped is not null then
    perform _qwf.delete_jobs(v_dropped);
  end if;
  return v_all;
end $$;

commit;
