-- Deploy qwf:functions/queues/_estimate_line
-- Purpose: Estimates how many jobs wait in the line of a queue.
-- Guarantees: Counts up to p_most; beyond that it takes what vacuum and analyze last found in the
--   lines of all queues.
-- Called by: _count_queued.

begin;

create function _qwf.estimate_line(p_queue text, p_most int) returns int
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count int := (
    select count(*) from (
      select from qwf.jobs j
      where _qwf.line_of(j) = p_queue and j.limit_place is not null
        and j.status in ('queued', 'running')
      order by _qwf.line_of(j) desc, _qwf.band_of(j) desc, j.limit_place desc, j.position desc
      limit p_most) l);
begin
  if v_count < p_most then
    return v_count;
  end if;
  return greatest(p_most, (
    select c.reltuples::int from pg_class c where c.oid = 'qwf.jobs_keyed'::regclass));
end $$;

commit;
