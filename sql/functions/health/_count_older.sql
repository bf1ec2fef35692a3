-- Deploy qwf:functions/health/_count_older
-- Purpose: Counts ended jobs and runs, rows of minutes, and events, that are older than a time.
-- Guarantees: Counts at most to p_most of each, and none where the time is null. Without a queue,
--   jobs of a queue with a retention of its own count by that one.
-- Called by: losses.

begin;

create function _qwf.count_older(
  p_now timestamptz, p_old interval, p_old_minutes interval, p_old_events interval, p_queue text,
  p_most int)
returns table (jobs bigint, runs bigint, minutes bigint, events bigint)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select
    (select count(*) from (
      select from qwf.jobs j
      left join qwf.queues q on q.name = j.queue
      where p_old is not null and j.run_id is null and (p_queue is null or j.queue = p_queue)
        and j.finished_at
          < p_now - case when p_queue is null then coalesce(q.retention, p_old) else p_old end
      limit p_most) d),
    (select count(*) from (
      select from qwf.runs r
      where p_queue is null and r.finished_at < p_now - p_old
      limit p_most) d),
    (select count(*) from (
      select from qwf.host_minutes m where m.minute < p_now - p_old_minutes
      union all
      select from qwf.queue_minutes m where m.minute < p_now - p_old_minutes
      limit p_most) d),
    (select count(*) from (
      select from _qwf.event_log e where e.at < p_now - p_old_events
      limit p_most) d);
end $$;

commit;
