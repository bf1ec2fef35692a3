-- Deploy qwf:functions/wake/_last_start_wake
-- Purpose: Returns when sleepers were last woken because rates of limits allowed starts again.
-- Guarantees: Reads a hint. If the clock was set back since, returns -infinity.
-- Called by: _next_start_at, _wake_for_starts.

begin;

create function _qwf.last_start_wake(p_now timestamptz) returns timestamptz
language sql stable
as $$
  select case when w.last_value / 1000.0 <= extract(epoch from p_now)
    then to_timestamp(w.last_value / 1000.0) else '-infinity' end
  from qwf.last_start_wake w
$$;

commit;
