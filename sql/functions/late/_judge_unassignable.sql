-- Deploy qwf:functions/late/_judge_unassignable
-- Purpose: Tells of queued jobs that no live worker of their queue can run.
-- Guarantees: Once for each job, until it is claimed or ends, or needs something else. Looks at the
--   first 20 jobs of each queue that somebody serves, and tells of 20 in a look. A job that has
--   waited for less than a minute is left out, and so is one that a worker could run that stopped a
--   minute ago: it may be starting again. The engine's own queues, qwf.*, are not judged: an alert
--   about an alert that nobody can send would be one more of these.
-- Locks: rows of open_states; the caller has locked the row of _qwf.judged.
-- Called by: _judge.

begin;

create function _qwf.judge_unassignable(p_now timestamptz) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_count int;
begin
  delete from _qwf.open_states o
  where o.kind = 'cannot_run_anywhere' and not exists (
    select from qwf.jobs j
    where j.id = o.subject::bigint and j.status = 'queued'
      and o.names = jsonb_build_object('queue', j.queue, 'project', j.project,
        'model', j.required_model, 'vram_mb', j.vram_mb, 'requires', j.requires));
  with found as materialized (
    select j.id, j.run_id, jsonb_build_object('queue', j.queue, 'project', j.project,
        'model', j.required_model, 'vram_mb', j.vram_mb, 'requires', j.requires) as needs,
      (select left(format('worker %s: %s', f.worker, f.reasons[1]), 500)
      from _qwf.why_unfit(j, p_now) f limit 1) as why
    from qwf.find_unassignable(20) u join qwf.jobs j on j.id = u.id
    where u.waited >= interval '1 min' and j.queue not like 'qwf.%'
      and not exists (
        select from _qwf.open_states o
        where o.kind = 'cannot_run_anywhere' and o.subject = j.id::text)
      and not exists (
        select from qwf.workers w
        where w.queue = j.queue and w.stopped_at > p_now - interval '1 min' and _qwf.can_run(j, w))
    order by j.id
    limit 20
  ), marked as (
    insert into _qwf.open_states (kind, subject, since, names)
    select 'cannot_run_anywhere', f.id::text, p_now, f.needs from found f
  )
  insert into _qwf.event_log (at, kind, run_id, job_id, detail)
  select p_now, 'cannot_run_anywhere', f.run_id, f.id,
    jsonb_strip_nulls(f.needs || jsonb_build_object('error', f.why))
  from found f;
  get diagnostics v_count = row_count;
  return v_count;
end $$;

commit;
