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
  v_ids bigint[];
  v_count int;
begin
  v_ids := array(
    select n.id from _qwf.event_log n
    where n.seq is null and n.id >= p_low
    order by n.id limit p_rows);
  update _qwf.event_log e set  -- no join: stale statistics would compare each event with all
    seq = p_last + width_bucket(e.id, v_ids),  -- its place among them
    (subject, names) = (
      select coalesce(e.subject, case when j.queue is not null then j.task end, j.node_id,
          r.workflow),
        coalesce(n.names || e.names, n.names, e.names)
      from (select) one
      left join qwf.jobs j on j.id = e.job_id
      left join qwf.runs r on r.id = coalesce(e.run_id, j.run_id)
      cross join lateral (
        select nullif(jsonb_strip_nulls(jsonb_build_object(
          'project', nullif(coalesce(j.project, r.project), ''), 'workflow', r.workflow,
          'node', j.node_id, 'task', j.task, 'queue', j.queue,
          'schedule', coalesce(j.schedule, r.schedule),
          'alert', coalesce(j.labels, r.labels) -> 'qwf.alert',
          -- of a run it may have been changed or removed since its jobs were made
          'notify', case when r.id is null then j.labels else r.labels end -> 'qwf.notify')), '{}')
          as names
        ) n)
  where e.id = any (v_ids) and coalesce(e.seq, 0) = 0;  -- `is null` may read event_log_new
  get diagnostics v_count = row_count;
  return v_count;
end $$;

commit;
