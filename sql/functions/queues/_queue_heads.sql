-- Deploy qwf:functions/queues/_queue_heads
-- Purpose: Returns the first queued job of each priority of a queue, and of each limit.
-- Guarantees: Jumps along an index from one priority or limit to the next, at most 100 of each, and
--   so reads a few hundred jobs however many are queued. With the settings of count_jobs.
-- Called by: _count_queued, find_unassignable.

begin;

create function _qwf.queue_heads(p_queue text) returns setof _qwf.queue_head
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with recursive free (run_next, priority, "position", id, queued_at) as (
    (select j.run_next, j.priority, j.position, j.id, j.queued_at from qwf.jobs j
    where j.queue = p_queue and j.status = 'queued' and j.limit_by is null
    order by j.run_next desc, j.priority, j.position limit 1)
    union all
    select n.* from free f
    cross join lateral (
      (select j.run_next, j.priority, j.position, j.id, j.queued_at from qwf.jobs j
      where j.queue = p_queue and j.status = 'queued' and j.limit_by is null
        and j.run_next = f.run_next and j.priority > f.priority
      order by j.run_next desc, j.priority, j.position limit 1)
      union all
      (select j.run_next, j.priority, j.position, j.id, j.queued_at from qwf.jobs j
      where j.queue = p_queue and j.status = 'queued' and j.limit_by is null
        and f.run_next and not j.run_next
      order by j.run_next desc, j.priority, j.position limit 1)
      limit 1) n
  ), limited (name) as (
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
  )
  (select f.run_next, f.priority, f.position, f.id, f.queued_at from free f limit 100)
  union all
  select h.* from (select l.name from limited l limit 100) l
  cross join lateral (
    select j.run_next, j.priority, j.position, j.id, j.queued_at from qwf.jobs j
    where j.queue = p_queue and j.status = 'queued' and j.limit_by = l.name
    order by j.run_next desc, j.priority, j.position limit 1) h
$$;

commit;
