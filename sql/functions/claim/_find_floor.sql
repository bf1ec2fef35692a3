-- Deploy qwf:functions/claim/_find_floor
-- Purpose: Returns where the queued jobs of a queue that fit the worker begin.
-- Guarantees: Walks along jobs_claim: over lower priority numbers and then from the base of an
--   earlier floor on, or over all of it if there is no base. Reads the mark, the last position
--   given out, before it walks.
-- Called by: _keep_floor.

begin;

create function _qwf.find_floor(
  p_queue text, p_worker qwf.workers, p_now timestamptz, p_old _qwf.floor)
returns _qwf.floor
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_part record;
  v_floor _qwf.floor;
begin
  v_floor.mark := coalesce(pg_sequence_last_value('qwf.job_position'), 0);
  for v_part in
    select * from (values
      (1, -2147483648, -9223372036854775808, case
        when p_old.base_position is null then 2147483647 else p_old.base_priority::bigint - 1 end),
      (2, p_old.base_priority, p_old.base_position, 2147483647)
    ) part (nth, priority, "position", up_to)
    where part.position is not null
    order by part.nth
  loop
    select j.priority, greatest(j.position, 0) into v_floor.priority, v_floor.position
    from qwf.jobs j
    where j.queue = p_queue and j.status = 'queued' and j.limit_by is null and not j.run_next
      and (j.priority, j.position) >= (v_part.priority, v_part.position)
      and j.priority <= v_part.up_to
      and _qwf.fits(j, p_worker, p_now)
    order by j.priority, j.position
    limit 1;
    if found then
      return v_floor;
    end if;
  end loop;
  -- nothing fits: new jobs come after the mark, and most likely in the priority of the base; one
  -- job of another priority must not move the floor there
  v_floor.priority := coalesce(p_old.base_priority, p_old.priority, 100);
  v_floor.position := v_floor.mark;
  return v_floor;
end $$;

commit;
