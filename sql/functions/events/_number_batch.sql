-- Deploy qwf:functions/events/_number_batch
-- Purpose: Gives the next numbers to the oldest events that have none, and writes what they are
--   about: the subject, and the names of the job or run while it exists.
-- Guarantees: In the order of ids, from p_low on. What the writer of an event has given stays.
-- Locks: the caller has locked the row of event_numbers.
-- Called by: _number_events.

begin;

create function _qwf.number_batch(p_low bigint, p_last bigint, p_rows int) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_count int;
begin
  with new as materialized (
    select e.id, e.run_id, e.job_id, p_last + row_number() over (order by e.id) as seq
    from (
      select n.id, n.run_id, n.job_id from _qwf.event_log n
      where n.seq is null and n.id >= p_low
      order by n.id limit p_rows) e
  ), named as materialized (  -- offset 0: each by its id, whatever the statistics say
    select w.id, w.seq, coalesce(j.task, j.node_id, r.workflow) as subject,
      nullif(jsonb_strip_nulls(jsonb_build_object(
        'project', nullif(coalesce(j.project, r.project), ''), 'workflow', r.workflow,
        'node', j.node_id, 'task', j.task, 'queue', j.queue,
        'schedule', coalesce(j.schedule, r.schedule),
        'alert', coalesce(j.labels, r.labels) -> 'qwf.alert',
        -- of a run it may have been changed since its jobs were made
        'notify', coalesce(r.labels -> 'qwf.notify', j.labels -> 'qwf.notify'))), '{}') as names
    from new w
    left join lateral (
      select n.run_id, n.node_id, n.task, n.queue, n.project, n.schedule, n.labels
      from qwf.jobs n where n.id = w.job_id offset 0) j on true
    left join lateral (
      select n.workflow, n.project, n.schedule, n.labels
      from qwf.runs n where n.id = coalesce(w.run_id, j.run_id) offset 0) r on true
  )
  update _qwf.event_log e set
    seq = n.seq,
    subject = coalesce(e.subject, n.subject),
    names = coalesce(n.names || e.names, n.names, e.names)
  from named n
  where e.id = n.id and coalesce(e.seq, 0) = 0;  -- not `is null`: by id, not by event_log_new
  get diagnostics v_count = row_count;
  return v_count;
end $$;

commit;
