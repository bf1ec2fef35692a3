-- Deploy qwf:functions/schedules/_firing_end
-- Purpose: Returns how the job or run of a firing has ended, and when.
-- Guarantees: Reads the job or run, unless the firing has its result. Nulls for one that has not
--   ended. For one that is deleted: completed if the queue of the schedule drops completed jobs,
--   else unknown. The view firing_details says the same.
-- Called by: _close_firings, _open_firings, _schedule_invariants, _time_taken.

begin;

create function _qwf.firing_end(p_firing qwf.firings) returns _qwf.firing_end
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_status text;
  v_at timestamptz;
begin
  if p_firing.result is not null or p_firing.outcome <> 'fired' then
    return row(p_firing.result, p_firing.ended_at)::_qwf.firing_end;
  elsif p_firing.run_id is not null then
    select r.status, r.finished_at into v_status, v_at from qwf.runs r where r.id = p_firing.run_id;
  else
    select j.status, j.finished_at into v_status, v_at from qwf.jobs j where j.id = p_firing.job_id;
  end if;
  if v_at is not null then
    return row(v_status, v_at)::_qwf.firing_end;
  elsif v_status is not null then
    return null;
  end if;
  return row(
    case when exists (
      select from qwf.schedules s join qwf.queues q on q.name = s.queue
      where s.name = p_firing.schedule and not q.keep_completed)
    then 'completed' else 'unknown' end, qwf.now())::_qwf.firing_end;
end $$;

commit;
