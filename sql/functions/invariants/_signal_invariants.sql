-- Deploy qwf:functions/invariants/_signal_invariants
-- Purpose: Returns violated invariants of signals and of the steps that wait for them.
-- Called by: check_invariants.

begin;

create function _qwf.signal_invariants() returns table (invariant text, subject text, detail text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select 'no step waits for a kept signal that the tick is done with', 'job ' || w.job_id,
    format('signal %s of project %L, sent at %s', s.name, s.project, s.sent_at)
  from qwf.waits w join qwf.signals s on s.project = w.project and s.name = w.name
  where w.kind = 'signal' and s.look_at is null and s.keep_until > qwf.now()
    and not coalesce(w.refused && array[s.id, -1], false)
  union all
  select 'a signal that was refused does not fit', 'job ' || w.job_id,
    format('signal %s of project %L, sent at %s', s.name, s.project, s.sent_at)
  from qwf.waits w
  join qwf.signals s on s.project = w.project and s.name = w.name and s.id = any (w.refused)
  join qwf.jobs j on j.id = w.job_id
  where w.kind = 'signal' and not exists (
    select from _qwf.answer_problems(j.input_spec, s.payload))
$$;

commit;
