-- Deploy qwf:functions/invariants/_kept_invariants
-- Purpose: Returns violated invariants of what is kept beside its source: errors, live logs, places
--   in lines, the lease and the timeout in the row of a queue, what jobs wait for, next_element of
--   maps, what was erased, checkpoints, progress and tracked numbers.
-- Guarantees: A standby cannot read live logs, and says nothing of them. A follower may ask for the
--   log of a job that is deleted at that moment: its row counts when prune should have deleted it.
-- Called by: check_invariants.

begin;

create function _qwf.kept_invariants() returns table (invariant text, subject text, detail text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    select 'an error has at most max_error_bytes', 'job ' || e.id,
      format('%s bytes', octet_length(e.error))
    from (
      select j.id, j.last_error as error from qwf.jobs j
      union all
      select a.job_id, a.error from qwf.job_attempts a) e
    where octet_length(e.error) > 262144  -- the setting may have been lowered
      and length(e.error) > (select s.max_error_bytes from qwf.settings s);
  return query
    select 'a job has a place in a line if its limit counts by key', format('job %s', j.id),
      format('limit %s, place %s', j.limit_by, coalesce(j.limit_place::text, 'none'))
    from qwf.jobs j
    where j.status in ('queued', 'running', 'scheduled', 'blocked') and j.limit_by is not null
      and j.limit_place is distinct from _qwf.limit_place(j.limit_by);
  return query
    select 'a queue has the lease and the timeout that are in force', 'queue ' || q.name,
      format('%s, %s', q.effective_lease, q.effective_timeout)
    from qwf.queues q cross join qwf.settings s
    where (q.effective_lease, q.effective_timeout)
      is distinct from (coalesce(q.lease, s.lease), coalesce(q.timeout, s.timeout));
  return query
    select 'waits has what jobs wait for', 'job ' || coalesce(w.job_id, j.job_id),
      format('%s since %s until %s, has %s since %s until %s',
        coalesce(j.kind, 'nothing'), j.since, j.at, coalesce(w.kind, 'nothing'), w.since, w.at)
    from (select x.* from qwf.jobs b cross join lateral _qwf.waits_of(b) x) j
    full join qwf.waits w on w.job_id = j.job_id and w.kind = j.kind
    where (j.job_id, j.kind, j.since, j.at, j.project, j.name)
      is distinct from (w.job_id, w.kind, w.since, w.at, w.project, w.name);
  return query
    select 'no element before next_element of its map is blocked', 'job ' || j.id,
      format('element %s, next_element %s of job %s', j.element, m.next_element, m.id)
    from qwf.jobs j join qwf.jobs m on m.id = j.parent_id
    where j.status = 'blocked' and (j.element >= m.next_element) is not true;
  return query
    select 'an erased job has ended', 'job ' || j.id, format('%s, erased: %s', j.status,
      array_to_string(j.erased_parts, ', '))
    from qwf.jobs j
    where j.erased_parts is not null and j.finished_at is null;
  return query
    select 'a checkpoint is of an attempt that its job has had', 'job ' || c.job_id,
      format('attempt %s of %s', c.attempt, coalesce(j.attempt::text, 'a job that is gone'))
    from qwf.checkpoints c left join qwf.jobs j on j.id = c.job_id
    where (c.attempt between 1 and j.attempt) is not true;
  return query
    select 'progress is of an attempt that its job has had', 'job ' || p.job_id,
      format('attempt %s of %s', p.attempt, coalesce(j.attempt::text, 'a job that is gone'))
    from qwf.job_progress p left join qwf.jobs j on j.id = p.job_id
    where (p.attempt between 0 and j.attempt) is not true;
  return query
    select 'tracked numbers are of an attempt that their job has had', 'job ' || s.job_id,
      format('attempt %s of %s', s.attempt, coalesce(j.attempt::text, 'a job that is gone'))
    from qwf.attempt_series s left join qwf.jobs j on j.id = s.job_id
    where (s.attempt between 1 and j.attempt) is not true;
  if not pg_is_in_recovery() then
    return query
      select 'a live log has its job', 'job ' || l.job_id, 'the job is gone'
      from qwf.live_logs l
      where l.followed_until < qwf.now() - interval '1 day'
        and not exists (select from qwf.jobs j where j.id = l.job_id);
  end if;
end $$;

commit;
