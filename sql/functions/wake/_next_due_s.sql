-- Deploy qwf:functions/wake/_next_due_s
-- Purpose: Returns the seconds until the next job or schedule is due.
-- Guarantees: Costs two index look-ups. Ignores a schedule that was due by p_since, when schedules
--   were last fired: it waits for its earlier work, not for time.
-- Called by: stay_asleep, tick.

begin;

create function _qwf.next_due_s(p_since timestamptz) returns numeric
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := qwf.now();
  v_job timestamptz;
  v_schedule timestamptz;
begin
  select j.run_at into v_job
  from qwf.jobs j
  where j.status = 'scheduled' and j.finished_at is null and j.run_at < 'infinity'
  order by j.finished_at, j.run_at
  limit 1;
  select min(s.next_at) into v_schedule
  from qwf.schedules s where s.next_at > p_since and s.next_at < 'infinity';
  return case when least(v_job, v_schedule) <= v_now then 0
    else extract(epoch from least(v_job, v_schedule) - v_now) end;
end $$;

commit;
