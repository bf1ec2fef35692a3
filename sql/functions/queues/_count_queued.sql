-- Deploy qwf:functions/queues/_count_queued
-- Purpose: Counts the queued jobs of a queue up to p_most, and finds the first in claim order.
-- Guarantees: Reads at most p_most jobs, however many are queued and whatever the statistics say,
--   with the settings of count_jobs. Counts from the end of an index: the entries that claims have
--   left behind under a held snapshot lie at its start. Of a queue with more than 100 limits, looks
--   for the head behind the first 100 of them only.
-- Called by: count_jobs.

begin;

create function _qwf.count_queued(p_queue text, p_most int) returns _qwf.queued_count
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count _qwf.queued_count;
begin
  v_count.queued := (
    select count(*) from (
      select from qwf.jobs j
      where j.queue = p_queue and j.status = 'queued' and j.limit_by is null
      order by j.run_next, j.priority desc, j.position desc
      limit p_most) free);
  v_count.queued := v_count.queued + (
    select count(*) from (
      select from qwf.jobs j
      where j.queue = p_queue and j.status = 'queued' and j.limit_by is not null
      order by j.limit_by desc, j.run_next, j.priority desc, j.position desc
      limit p_most - v_count.queued) limited);
  with recursive limited (name) as (  -- each limit that jobs of the queue wait for
    (select j.limit_by from qwf.jobs j
    where j.queue = p_queue and j.status = 'queued' and j.limit_by is not null
    order by j.limit_by limit 1)
    union all
    select (
      select j.limit_by from qwf.jobs j
      where j.queue = p_queue and j.status = 'queued' and j.limit_by is not null
        and j.limit_by > l.name
      order by j.limit_by limit 1)
    from limited l where l.name is not null
  ), head (id, queued_at, run_next, priority, "position") as (
    (select j.id, j.queued_at, j.run_next, j.priority, j.position from qwf.jobs j
    where j.queue = p_queue and j.status = 'queued' and j.limit_by is null
    order by j.run_next desc, j.priority, j.position limit 1)
    union all
    select f.* from (select l.name from limited l limit 100) l
    cross join lateral (
      select j.id, j.queued_at, j.run_next, j.priority, j.position from qwf.jobs j
      where j.queue = p_queue and j.status = 'queued' and j.limit_by = l.name
      order by j.run_next desc, j.priority, j.position limit 1) f
  )
  select h.id, h.queued_at into v_count.head, v_count.head_since
  from head h order by h.run_next desc, h.priority, h.position limit 1;
  return v_count;
end $$;

commit;
