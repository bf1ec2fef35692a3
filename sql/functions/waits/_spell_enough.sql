-- Deploy qwf:functions/waits/_spell_enough
-- Purpose: Says how a map ended that stops when enough of its elements have completed: how many
--   completed and failed, and how many were stopped, or still stop.
-- Guarantees: Null if none was stopped.
-- Called by: what tells people about a run.

begin;

create function _qwf.spell_enough(p_counts jsonb, p_needed text) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select concat_ws(', ',
    c.completed || ' completed', c.skipped || ' skipped', c.failed || ' failed',
    nullif(c.cancelled, 0) || ' stopped', nullif(c.live, 0) || ' still to stop')
    || ': ' || p_needed || case when p_needed = '1' then ' was enough' else ' were enough' end
  from (
    select (p_counts -> 'completed')::int as completed, (p_counts -> 'skipped')::int as skipped,
      (p_counts -> 'failed')::int as failed,
      coalesce((p_counts -> 'cancelled')::int, 0) as cancelled, (
        select coalesce(sum(e.value::int), 0) from jsonb_each_text(p_counts) e
        where e.key not in ('completed', 'skipped', 'failed', 'cancelled')) as live) c
  where c.cancelled + c.live > 0
$$;
call _qwf.allow('_qwf.spell_enough', 'qwf_viewer');

commit;
