-- Deploy qwf:functions/upkeep/_roll_up_counts
-- Purpose: Adds the figures of ended attempts to their totals, to the hour and the minute they
--   belong to, and to what is usual for their tasks.
-- Guarantees: Each row counts exactly once: the statement that deletes it adds it. One caller at a
--   time, so that nobody ever waits for a row of the tables it adds to.
-- Locks: roll_up, tried only.
-- Called by: _roll_up_statistics.

begin;

create function _qwf.roll_up_counts(p_max int default 5000) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_count int;
begin
  if not _qwf.try_lock('roll_up') then
    return 0;
  end if;
  with taken as (
    delete from qwf.attempt_counts c
    where c.ctid = any (array(select a.ctid from qwf.attempt_counts a limit p_max))
    returning c.minute, c.queue, c.task, c.outcome, c.waits, c.runs
  ), timed as materialized (  -- a clock may have been set back
    select f.minute, date_bin('1 hour', f.minute, 'epoch') as hour, f.queue, f.task, f.outcome,
      greatest(u.wait, 0) as wait, greatest(u.run, 0) as run
    from taken f cross join lateral unnest(f.waits, f.runs) u (wait, run)
  ), counted as (
    insert into qwf.hourly_counts as h (
      hour, queue, task, outcome, count,
      wait_seconds, wait_max, waits, run_seconds, run_max, runs)
    select t.hour, t.queue, t.task, t.outcome, count(*),
      sum(t.wait), max(t.wait), _qwf.histogram(array_agg(t.wait)),
      sum(t.run), max(t.run), _qwf.histogram(array_agg(t.run))
    from timed t group by t.hour, t.queue, t.task, t.outcome
    on conflict (hour, queue, task, outcome) do update set
      count = h.count + excluded.count,
      wait_seconds = h.wait_seconds + excluded.wait_seconds,
      wait_max = greatest(h.wait_max, excluded.wait_max),
      waits = _qwf.add_histograms(h.waits, excluded.waits),
      run_seconds = h.run_seconds + excluded.run_seconds,
      run_max = greatest(h.run_max, excluded.run_max),
      runs = _qwf.add_histograms(h.runs, excluded.runs)
  ), totalled as (
    insert into qwf.attempt_totals as a (
      queue, task, outcome, count, wait_seconds, waits, run_seconds, runs)
    select t.queue, t.task, t.outcome, count(*), sum(t.wait),
      _qwf.histogram(array_agg(t.wait)), sum(t.run), _qwf.histogram(array_agg(t.run))
    from timed t group by t.queue, t.task, t.outcome
    on conflict (queue, task, outcome) do update set
      count = a.count + excluded.count,
      wait_seconds = a.wait_seconds + excluded.wait_seconds,
      waits = _qwf.add_histograms(a.waits, excluded.waits),
      run_seconds = a.run_seconds + excluded.run_seconds,
      runs = _qwf.add_histograms(a.runs, excluded.runs)
  ), learned as (
    select _qwf.merge_usual(array_agg(w.n), 0) from (
      select ('task', t.task, '',  -- only what completed is usual; the last one is the last
        _qwf.histogram(array_agg(t.run) filter (where t.outcome = 'completed')),
        max(t.run) filter (where t.outcome = 'completed'),
        case when bool_or(t.outcome = 'completed') then max(t.minute) end, max(t.minute),
        (array_agg(t.outcome))[count(*)], (array_agg(t.run))[count(*)], null)::_qwf.usual_new as n
      from timed t group by t.task) w
  ), ended as (
    insert into qwf.queue_minutes as m (
      queue, minute, completed, error, fatal, tempfail, lost, released, cancelled)
    select t.queue, t.minute, count(*) filter (where t.outcome = 'completed'),
      count(*) filter (where t.outcome = 'error'), count(*) filter (where t.outcome = 'fatal'),
      count(*) filter (where t.outcome = 'tempfail'), count(*) filter (where t.outcome = 'lost'),
      count(*) filter (where t.outcome = 'released'),
      count(*) filter (where t.outcome = 'cancelled')
    from timed t group by t.queue, t.minute
    on conflict (queue, minute) do update set
      completed = m.completed + excluded.completed, error = m.error + excluded.error,
      fatal = m.fatal + excluded.fatal, tempfail = m.tempfail + excluded.tempfail,
      lost = m.lost + excluded.lost, released = m.released + excluded.released,
      cancelled = m.cancelled + excluded.cancelled
  )
  select count(*) into v_count
  from taken where (select count(*) from learned) >= 0;  -- unread: not run
  return v_count;
end $$;

commit;
