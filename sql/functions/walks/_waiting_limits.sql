-- Deploy qwf:functions/walks/_waiting_limits
-- Purpose: Counts the limits for which jobs of a queue wait, up to a bound; not those that count by
--   key.
-- Guarantees: One index probe for each limit.
-- Called by: _doctor_queues.

begin;

create function _qwf.waiting_limits(p_queue text, p_most int) returns int
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
begin
  return (
    with recursive waiting (name) as (
      (select j.limit_by from qwf.jobs j
        where j.queue = p_queue and j.status = 'queued' and j.limit_by is not null
          and j.limit_place is null
        order by j.limit_by limit 1)
      union all
      select (select j.limit_by from qwf.jobs j
        where j.queue = p_queue and j.status = 'queued' and j.limit_by > w.name
          and j.limit_place is null
        order by j.limit_by limit 1)
      from waiting w
      where w.name is not null
    )
    select count(*) from (select from waiting w where w.name is not null limit p_most) l);
end $$;

commit;
