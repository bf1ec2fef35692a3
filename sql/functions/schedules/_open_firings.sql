-- Deploy qwf:functions/schedules/_open_firings
-- Purpose: Returns how many firings of a schedule have a job or run that has not ended.
-- Called by: _fire_schedules, _firing_verdict.

begin;

create function _qwf.open_firings(p_schedule text) returns int
language sql stable
as $$
  select count(*)::int from qwf.firings f
  where f.schedule = p_schedule and f.outcome = 'fired' and f.result is null
    and (_qwf.firing_end(f)).result is null
$$;

commit;
