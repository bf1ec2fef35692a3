-- Deploy qwf:functions/walks/_find_floor
-- Purpose: Returns the priorities of a queue and where in each the queued jobs that the worker can
--   run begin.
-- Guarantees: Passes no job that only has to wait, for another of its key or because it avoids the
--   host for a while: it may fit at any moment. Walks along jobs_claim: in known priorities from
--   their base on, between them over everything. In a known priority without such a job it is the
--   mark, the last position given out before. p_all: ignores the bases, and also knows the
--   priorities of the last 200 jobs, because dead entries do not show theirs. Returns 1 to 16
--   priorities, the first ones.
-- Called by: _keep_floor.

begin;

create function _qwf.find_floor(
  p_queue text, p_worker qwf.workers, p_bands _qwf.band[], p_all boolean, p_mark bigint)
returns _qwf.band[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_bands _qwf.band[] := '{}';
  v_low bigint := -2147483648;
  v_known record;
  v_priority int;
  v_position bigint;
begin
  for v_known in
    select k.priority, max(k.base) as base
    from (
      select b.priority::bigint, b.base from unnest(p_bands) b
      union all
      select r.priority, null
      from (select j.queue, j.priority from qwf.jobs j order by j.id desc limit 200) r
      where p_all and r.queue = p_queue
      union all
      select 2147483648, null
    ) k (priority, base)
    group by k.priority
    order by k.priority
  loop
    loop  -- priorities before it that are not known yet
      select j.priority, j.position into v_priority, v_position
      from qwf.jobs j
      where j.queue = p_queue and j.status = 'queued' and j.limit_by is null and not j.run_next
        and j.priority >= v_low and j.priority < v_known.priority
        and _qwf.can_run(j, p_worker)
      order by j.priority, j.position
      limit 1;
      exit when not found or cardinality(v_bands) = 16;
      v_bands := v_bands || (v_priority, greatest(v_position, 0), null, null)::_qwf.band;
      v_low := v_priority::bigint + 1;
    end loop;
    exit when v_known.priority > 2147483647 or cardinality(v_bands) = 16;
    select j.position into v_position
    from qwf.jobs j
    where j.queue = p_queue and j.status = 'queued' and j.limit_by is null and not j.run_next
      and j.priority = v_known.priority
      and j.position >= case when p_all then 0 else coalesce(v_known.base, 0) end
      and _qwf.can_run(j, p_worker)
    order by j.position
    limit 1;
    v_bands := v_bands || (
      v_known.priority, coalesce(v_position, p_mark), v_known.base, null)::_qwf.band;
    v_low := v_known.priority + 1;
  end loop;
  if v_bands = '{}' then
    return array[(100, p_mark, null, null)::_qwf.band];
  end if;
  return v_bands;
end $$;

commit;
