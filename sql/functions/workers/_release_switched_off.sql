-- Deploy qwf:functions/workers/_release_switched_off
-- Purpose: Gives back the jobs of a worker that is off hard and does not read its orders itself.
-- Guarantees: Never waits. The jobs are released: no budget is counted, and they go to the front of
--   their band; the tokens are stale from then on. A report that is under way holds the lock of its
--   job, and counts. An agent that registered follows_orders kills and releases by itself: it still
--   holds reports of bodies that have ended, and they would be lost here.
-- Locks: the jobs (by id), if nobody else has locked them, then as _end_attempts.
-- Called by: heartbeat.

begin;

create function _qwf.release_switched_off(p_worker text, p_tokens uuid[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_material = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_reports _qwf.report[];
begin
  if not exists (
    select from qwf.workers w
    join qwf.switched_off o on o.host = w.host and o.queue = w.queue
    where w.id = p_worker and not w.follows_orders and o.stop_policy = 'hard') then
    return;
  end if;
  with held as materialized (
    select j.id, j.token
    from unnest(p_tokens) t (token)
    join qwf.jobs j on j.id = _qwf.job_of_token(t.token) and j.token = t.token
    where j.claimed_by = p_worker
    order by j.id
    for no key update of j skip locked
  )
  select array_agg((h.id, h.token, 'released', null, 'the worker was switched off',
      jsonb_build_object('reason', 'worker_off'))::_qwf.report order by h.id) into v_reports
  from held h;
  if v_reports is not null then
    perform _qwf.end_attempts(v_reports);
  end if;
end $$;

commit;
