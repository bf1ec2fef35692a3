-- Deploy qwf:functions/finish/_end_attempts
-- Purpose: Ends attempts with any outcome, and does what follows.
-- Guarantees: The fence: a report whose token is not the job's current one locks and changes
--   nothing; of two reports about one attempt the first counts. Each job is found by id and token
--   alone, whatever the statistics say: the token is null unless the job is running. All rows of
--   one call end together. A completed job that leaves no row is deleted, unless it wrote files.
--   Returns what has ended.
-- Locks: the jobs (by id), cancel_requests of these jobs that are free; then as _after_ends.
-- Notifies: as _after_ends, and sleepers of the queues that got work back.
-- Called by: _reclaim, _release_switched_off, _report_runs, _serve_runs, deregister_worker,
--   finish_many.

begin;

create function _qwf.end_attempts(p_reports _qwf.report[]) returns _qwf.finished
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
  v_reports _qwf.report[] := array(  -- locked before the statement that writes has its snapshot
    select (r.job_id, r.token, r.outcome, r.output, r.error, r.detail)::_qwf.report
    from (
      select distinct on (u.job_id, u.token) u.*
      from unnest(p_reports)
        with ordinality u (job_id, token, outcome, output, error, detail, ord)
      order by u.job_id, u.token, u.ord
    ) r
    cross join lateral (
      select from qwf.jobs b where b.id = r.job_id and b.token = r.token for no key update) j);
  v_ended _qwf.ended[];
  v_done _qwf.finished;
begin
  if v_reports = '{}' then
    return v_done;
  end if;
  v_ended := _qwf.write_ends(_qwf.weigh_outcomes(v_reports, v_now), v_now);
  perform _qwf.record_unusual(v_ended, v_now);
  perform _qwf.wake(e.queue, count(*)::int)
  from unnest(v_ended) e where e.status = 'queued' group by e.queue;
  perform _qwf.add_waits(t.jobs), _qwf.announce_trouble(t.jobs)
  from (select array_agg(e.id) as jobs from unnest(v_ended) e
    where e.status in ('failed', 'awaiting_input')) t
  where t.jobs is not null;
  delete from qwf.cancel_requests c
  using (  -- tick() deletes those that somebody has locked
    select r.job_id
    from unnest(v_ended) e join qwf.cancel_requests r on r.job_id = e.id
    where e.status in ('completed', 'failed', 'cancelled')
    for update of r skip locked
  ) free
  where c.job_id = free.job_id;
  select count(*), array_agg(e.id),
    array_agg((j.project, j.task, j.key)::_qwf.job_key)
      filter (where e.status <> 'queued' and j.key_state = 's' and j.run_id is null),
    array_agg((e.run_id, e.id, case
        when e.status in ('queued', 'scheduled') then 'requeued'
        when e.status = 'awaiting_input' then 'asked'
        else e.status::text end)::_qwf.event) filter (where e.run_id is not null),
    array_agg(j.limit_place) filter (where j.limit_place is not null),
    array_agg(e.token) filter (where e.outcome = 'completed' and j.run_id is null and not j.once
      and coalesce(e.detail -> 'files', 'null') in ('[]', 'null')
      and (select not q.keep_completed from qwf.queues q where q.name = e.queue))
    into v_done.count, v_done.ids, v_done.keys, v_done.events, v_done.places, v_done.dropped
  from unnest(v_ended) e join qwf.jobs j on j.id = e.id;
  if v_done.dropped is not null then
    perform _qwf.delete_jobs(array(select _qwf.job_of_token(t) from unnest(v_done.dropped) t));
  end if;
  return _qwf.after_ends(v_done);
end $$;

commit;
