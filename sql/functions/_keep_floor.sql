-- Deploy qwf:functions/_keep_floor
-- requires: schema/types
-- requires: schema/jobs
-- requires: schema/workers
-- requires: functions/_fits
-- requires: functions/now
-- Purpose: Remembers where the queued jobs of a queue that fit the worker begin, so that claims of
--   this session need not walk past what was claimed before: while somebody holds a snapshot,
--   vacuum leaves that in the index.
-- Guarantees: A hint in a setting of the session: no row, no lock, nothing shared. It counts for
--   twenty times as long as it took to find, a tenth of a second to a second, so that little of a
--   session's time goes into walks. Forgotten once there is little to walk past.
-- Called by: _pick_next, _floor.

begin;

create function qwf._keep_floor(p_queue text, p_worker qwf.workers, p_now timestamptz)
returns qwf.floor
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_began timestamptz := qwf.now();
  v_last bigint := pg_sequence_last_value('qwf.job_position');
  v_floors jsonb := coalesce(nullif(current_setting('qwf.floors', true), ''), '{}')::jsonb;
  v_took interval;
  v_floor qwf.floor;
begin
  select j.priority, greatest(j.position, 0) into v_floor.priority, v_floor.position
  from qwf.jobs j
  where j.queue = p_queue and j.status = 'queued' and j.limit_by is null and not j.run_next
    and qwf._fits(j, p_worker, p_now)
  order by j.priority, j.position
  limit 1;
  if not found then  -- what comes has a position after the last, most likely of this priority
    v_floor.priority := coalesce((v_floors -> p_queue ->> 'priority')::int, 100);
    v_floor.position := coalesce(v_last, 0);
  end if;
  v_took := qwf.now() - v_began;
  v_floors := v_floors - p_queue;
  if v_took > '1 ms' then
    v_floor.until := qwf.now() + least(greatest(20 * v_took, '0.1 s'), '1 s');
    v_floor.worker := p_worker.id;
    v_floors := v_floors || jsonb_build_object(p_queue, to_jsonb(v_floor));
  else
    v_floor := null;
  end if;
  perform set_config(
    'qwf.floors', case when v_floors = '{}' then '' else v_floors::text end, false);
  return v_floor;
end $$;
comment on function qwf._keep_floor(text, qwf.workers, timestamptz) is
  'The first queued job of the queue that fits the worker, or the end of the queue, as a floor for '
  'at most a second; null where it was found at once.';
revoke all on function qwf._keep_floor(text, qwf.workers, timestamptz) from public;

commit;
