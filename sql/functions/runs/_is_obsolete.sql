-- Deploy qwf:functions/runs/_is_obsolete
-- Purpose: True when a job's result no longer matters: its run is over or ending, or its map has
--   ended.
-- Guarantees: Reads committed state; takes no lock. A clean-up node matters while its run is
--   ending, not after its end; an element does not matter after the end of its map.
-- Called by: _cancel_obsolete, _lock_obsolete, _serve_signal, _should_stop, _sort_events,
--   _stop_children, answer_job.

begin;

create function _qwf.is_obsolete(p_run_id bigint, p_run_if text, p_parent_id bigint) returns boolean
language sql stable
as $$
  select exists (
      select from qwf.runs r
      where r.id = p_run_id
        and (r.finished_at is not null or (r.ending is not null and p_run_if is null)))
    or exists (select from qwf.jobs m where m.id = p_parent_id and m.finished_at is not null)
$$;

commit;
