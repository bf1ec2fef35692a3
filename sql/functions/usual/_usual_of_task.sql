-- Deploy qwf:functions/usual/_usual_of_task
-- Purpose: Returns what attempts at jobs of a task, which ended up to p_at, add to what is usual.
-- Guarantees: Only those that completed count for what is usual. The last of the list is the last.
-- Called by: _roll_up_counts.

begin;

create function _qwf.usual_of_task(
  p_task text, p_outcomes text[], p_seconds real[], p_at timestamptz) returns _qwf.usual_new
language sql immutable
as $$
  select ('task', p_task, '',
    _qwf.histogram(array_agg(a.seconds) filter (where a.outcome = 'completed')),
    max(a.seconds) filter (where a.outcome = 'completed'),
    case when 'completed' = any (p_outcomes) then p_at end, p_at,
    p_outcomes[cardinality(p_outcomes)], p_seconds[cardinality(p_seconds)], null)::_qwf.usual_new
  from unnest(p_outcomes, p_seconds) a (outcome, seconds)
$$;

commit;
