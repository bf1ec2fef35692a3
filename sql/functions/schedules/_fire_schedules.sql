-- Deploy qwf:functions/schedules/_fire_schedules
-- Purpose: Records how the work of earlier firings has ended, then enqueues the jobs and runs of
--   due schedules.
-- Guarantees: Each time fires once, however many sessions call this at once and whatever restarts.
--   The longest overdue schedule comes first; one that only waits for its last job or run, and a
--   backfill that has as many open as it may, do not count against the bound. After 300 ms the
--   others are left to the next tick, which fires whatever the one before has done.
-- Locks: open firings and due schedules that nobody has locked.
-- Notifies: sleepers, as enqueue_many and enqueue_run.
-- Raises: errors that pass (see _is_passing_error):
--   everything that is due stays due.
-- Called by: _tick_part.

begin;

create function _qwf.fire_schedules(p_max_schedules int default 100) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := qwf.now();
  v_schedule qwf.schedules;
  v_count int := 0;
begin
  perform _qwf.close_firings();
  for v_schedule in
    select s.* from qwf.schedules s
    where s.next_at <= v_now
      and not (
        s.catch_up = 'all' and s.overlap = 'skip'
        and _qwf.is_unfinished(s.last_job_id, s.last_run_id))
      and (s.backfill_of is null or _qwf.open_firings(s.name) < s.at_once)
    order by s.next_at
    limit p_max_schedules
    for no key update skip locked
  loop
    v_count := v_count + _qwf.fire_due(v_schedule, v_now);
    exit when qwf.now() - v_now > interval '300 ms';
  end loop;
  return v_count;
end $$;

commit;
