-- Deploy qwf:functions/invariants/_schedule_invariants
-- Purpose: Returns violated invariants of schedules and their firings.
-- Guarantees: The job of an open firing may be gone if its queue drops completed jobs, until the
--   next tick. What a person has retried does not count for the bound of a backfill.
-- Called by: check_invariants.

begin;

create function _qwf.schedule_invariants() returns table (invariant text, subject text, detail text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    select 'a backfill has at most at_once firings open', 'schedule ' || s.name,
      format('%s open, at_once %s', f.open, s.at_once)
    from qwf.schedules s
    cross join lateral (
      select count(*) as open from qwf.firings f
      where f.schedule = s.name and f.outcome = 'fired' and f.result is null and not f.reopened
        and (_qwf.firing_end(f)).result is null) f
    where s.at_once < f.open;
  return query
    select 'the job or run of an open firing exists', 'firing ' || f.id,
      format('schedule %s, job %s, run %s', f.schedule, coalesce(f.job_id::text, 'none'),
        coalesce(f.run_id::text, 'none'))
    from qwf.firings f
    where f.outcome = 'fired' and f.result is null and (_qwf.firing_end(f)).result = 'unknown';
  return query
    select 'a time is worked on once', 'schedule ' || t.schedule,
      format('%s firings are open for %s', t.open, t.due_at)
    from (
      select coalesce(f.backfill_of, f.schedule) as schedule, f.due_at, count(*) as open
      from qwf.firings f
      where f.outcome = 'fired' and f.result is null and not f.reopened
        and (_qwf.firing_end(f)).result is null
      group by 1, 2) t
    where t.open > 1 and t.due_at is not null;
  return query
    select 'a backfill ends before its end', 'schedule ' || s.name,
      format('next at %s, ends at %s', coalesce(s.next_at, s.resume_at), s.ends_at)
    from qwf.schedules s
    where coalesce(s.next_at, s.resume_at) >= s.ends_at;
end $$;

commit;
