-- Deploy qwf:functions/upkeep/_record_queues
-- Purpose: Writes how many jobs of each queue are queued and running, and how long the first one
--   has waited.
-- Guarantees: Counts 10,000 queued jobs and estimates more, and follows the claim indexes, so that
--   a long queue and old statistics cost nothing. The time is in proportion to the number
--   of queues. Leaves a minute that is written already as it is.
-- Called by: _record_minutes.

begin;

create function _qwf.record_queues(p_minute timestamptz, p_now timestamptz) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_nestloop = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_count int;
begin
  insert into qwf.queue_minutes as m (queue, minute, queued, running, head_wait_seconds)
  select q.name, p_minute, c.queued, coalesce(r.jobs, 0),
    case when c.queued > 0 then greatest(date_part('epoch', p_now - c.head_since), 0) end
  from qwf.queues q
  cross join lateral _qwf.count_queued(q.name, 10001) c
  left join (
    select j.queue, count(*) as jobs from qwf.jobs j where j.status = 'running' group by j.queue
  ) r on r.queue = q.name
  where not starts_with(q.name, 'qwf.')
  on conflict (queue, minute) do update set
    queued = excluded.queued, running = excluded.running,
    head_wait_seconds = excluded.head_wait_seconds
  where m.queued is null;
  get diagnostics v_count = row_count;
  return v_count;
end $$;

commit;
