-- Deploy qwf:functions/queues/_queue_heads
-- Purpose: Returns the first queued job of each priority of a queue, without a limit, of each
--   limit, and of each key of a limit.
-- Guarantees: Jumps along an index from one priority to the next, at most 100 without a limit, 100
--   of limits and 100 of keys, and so reads a few hundred jobs however many are queued. With the
--   settings of count_jobs. PL/pgSQL keeps its plan: before Postgres 18 a function in SQL is
--   planned again in each call, which took 4 ms for each queue.
-- Called by: _count_queued, find_unassignable.

begin;

create function _qwf.queue_heads(p_queue text) returns setof _qwf.queue_head
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
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
  ), limited (name, run_next, priority, "position", id, queued_at) as (
    (select j.limit_by, j.run_next, j.priority, j.position, j.id, j.queued_at from qwf.jobs j
    where j.queue = p_queue and j.status = 'queued' and j.limit_by is not null
      and j.limit_place is null
    order by j.limit_by, coalesce(j.limit_by, j.required_model), j.run_next desc,
      j.priority, j.position limit 1)
    union all
    select n.* from limited l
    cross join lateral (
      (select j.limit_by, j.run_next, j.priority, j.position, j.id, j.queued_at from qwf.jobs j
      where j.queue = p_queue and j.status = 'queued' and j.limit_by = l.name
        and j.limit_place is null
        and coalesce(j.limit_by, j.required_model) = l.name
        and j.run_next = l.run_next and j.priority > l.priority
      order by j.limit_by, j.run_next desc, j.priority, j.position limit 1)
      union all
      (select j.limit_by, j.run_next, j.priority, j.position, j.id, j.queued_at from qwf.jobs j
      where j.queue = p_queue and j.status = 'queued' and j.limit_by = l.name
        and j.limit_place is null
        and coalesce(j.limit_by, j.required_model) = l.name
        and l.run_next and not j.run_next
      order by j.limit_by, j.run_next desc, j.priority, j.position limit 1)
      union all
      (select j.limit_by, j.run_next, j.priority, j.position, j.id, j.queued_at from qwf.jobs j
      where j.queue = p_queue and j.status = 'queued' and j.limit_by > l.name
        and j.limit_place is null
      order by j.limit_by, coalesce(j.limit_by, j.required_model), j.run_next desc,
        j.priority, j.position limit 1)
      limit 1) n
  )
  (select null, f.* from free f limit 100)
  union all
  (select l.* from limited l limit 100)
  union all
  (select h.* from _qwf.line_heads(p_queue, 100) h);
end $$;

commit;
