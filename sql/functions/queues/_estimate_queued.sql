-- Deploy qwf:functions/queues/_estimate_queued
-- Purpose: Estimates how many jobs of a queue are queued, from samples of its claim indexes.
-- Guarantees: Divides the positions between the first and the last job of each priority into equal
--   parts, about 50 of them in all. Reads at most 200 jobs at the start of each part: if that is
--   the whole part it is counted, else it is as full as its start. So it reads 10,000 jobs (20,000
--   with 100 priorities), however many are queued. Jobs that were given back to the front, below
--   position 0, are one more part of their priority. Jobs that came in bursts, with long gaps of
--   jobs of other queues, can be estimated at twice their number and more. With the
--   settings of count_jobs.
-- Called by: _count_queued.

begin;

create function _qwf.estimate_queued(p_queue text, p_heads _qwf.queue_head[]) returns int
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with band as (
    select h.limit_by, h.run_next, h.priority, greatest(h.position, s.low) as first,
      l.position as last, case when s.low < 0 then 1
        else greatest(50 / cardinality(p_heads), 1) end as parts
    from unnest(p_heads) h
    cross join (
      values (-9223372036854775808, -1), (0, 9223372036854775807)) s (low, high)
    cross join lateral (
      (select j.position from qwf.jobs j
      where h.limit_by is null and j.queue = p_queue and j.status = 'queued'
        and j.limit_by is null and j.run_next = h.run_next and j.priority = h.priority
        and j.position between s.low and s.high
      order by j.run_next, j.priority desc, j.position desc limit 1)
      union all
      (select j.position from qwf.jobs j
      where j.queue = p_queue and j.status = 'queued' and j.limit_by = h.limit_by
        and j.limit_place is null
        and coalesce(j.limit_by, j.required_model) = h.limit_by
        and j.run_next = h.run_next and j.priority = h.priority
        and j.position between s.low and s.high
      order by j.limit_by desc, j.run_next, j.priority desc, j.position desc limit 1)) l
  ), part as (
    select b.limit_by, b.run_next, b.priority,
      b.first + (b.last + 1 - b.first) * n / b.parts as start,
      b.first + (b.last + 1 - b.first) * (n + 1) / b.parts as beyond
    from band b
    cross join lateral generate_series(0, b.parts - 1) n
  )
  select round(sum(case when s.jobs < 200 then s.jobs
    else s.jobs::float8 * (p.beyond - p.start) / (s.last + 1 - p.start) end))::int
  from part p
  cross join lateral (
    select count(*) as jobs, max(w.position) as last
    from (
      (select j.position from qwf.jobs j
      where p.limit_by is null and j.queue = p_queue and j.status = 'queued'
        and j.limit_by is null and j.run_next = p.run_next and j.priority = p.priority
        and j.position >= p.start and j.position < p.beyond
      order by j.run_next desc, j.priority, j.position limit 200)
      union all
      (select j.position from qwf.jobs j
      where j.queue = p_queue and j.status = 'queued' and j.limit_by = p.limit_by
        and j.limit_place is null
        and coalesce(j.limit_by, j.required_model) = p.limit_by
        and j.run_next = p.run_next and j.priority = p.priority
        and j.position >= p.start and j.position < p.beyond
      order by j.limit_by, j.run_next desc, j.priority, j.position limit 200)) w) s
$$;

commit;
