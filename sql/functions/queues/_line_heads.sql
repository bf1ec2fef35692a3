-- Deploy qwf:functions/queues/_line_heads
-- Purpose: Returns the first job of each of the first keys in the line of a queue.
-- Guarantees: One probe of jobs_keyed for each key. With the settings of count_jobs.
-- Called by: _queue_heads.

begin;

create function _qwf.line_heads(p_queue text, p_most int) returns setof _qwf.queue_head
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  with recursive keyed (band, place, name, run_next, priority, "position", id, queued_at) as (
    (select _qwf.band_of(j), j.limit_place, j.limit_by, j.run_next, j.priority, j.position, j.id,
        j.queued_at from qwf.jobs j
    where _qwf.line_of(j) = p_queue and j.limit_place is not null
      and j.status in ('queued', 'running')
    order by _qwf.line_of(j), _qwf.band_of(j), j.limit_place, j.position limit 1)
    union all
    select n.* from keyed k
    cross join lateral (
      select _qwf.band_of(j), j.limit_place, j.limit_by, j.run_next, j.priority, j.position, j.id,
        j.queued_at from qwf.jobs j
      where _qwf.line_of(j) = p_queue and (_qwf.band_of(j), j.limit_place) > (k.band, k.place)
        and j.limit_place is not null and j.status in ('queued', 'running')
      order by _qwf.line_of(j), _qwf.band_of(j), j.limit_place, j.position limit 1) n
  )
  select k.name, k.run_next, k.priority, k.position, k.id, k.queued_at from keyed k limit p_most;
end $$;

commit;
