-- Deploy qwf:functions/schedules/_time_taken
-- Purpose: Returns what became of a time of a schedule for which somebody has fired already, the
--   schedule, a backfill or a person: open or completed; null if nobody has, or if the work failed,
--   was cancelled or is not known.
-- Guarantees: Firings of an earlier schedule of that name, which was dropped, do not count.
-- Called by: due_times, _check_fire, _firing_verdict.

begin;

create function _qwf.time_taken(p_schedule text, p_due timestamptz) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_results text[];
begin
  v_results := array(
    select coalesce((_qwf.firing_end(f)).result, 'open')
    from qwf.firings f
    where coalesce(f.backfill_of, f.schedule) = p_schedule and f.due_at = p_due
      and f.outcome = 'fired'
      and f.at >= coalesce((select s.created_at from qwf.schedules s where s.name = p_schedule),
        '-infinity'));
  return case
    when 'open' = any (v_results) then 'open'
    when 'completed' = any (v_results) then 'completed' end;
end $$;

commit;
