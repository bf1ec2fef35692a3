-- Deploy qwf:functions/workers/deregister_worker
-- Purpose: Marks a worker as stopped and hands back the jobs it held.
-- Guarantees: Its jobs are released: no budget is counted, and they go to the front of their band.
--   A second call does no harm. An event
--   names who called.
-- Locks: the jobs (by id), then as _end_attempts, then the worker's rows.
-- Called by: agents that stop, qwf worker forget for one that is dead.

begin;

create function qwf.deregister_worker(worker text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_material = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_reports _qwf.report[];
  v_worker qwf.workers;
begin
  if starts_with(deregister_worker.worker, 'qwf.') then
    perform _qwf.refuse_engine_name('worker', deregister_worker.worker);
  end if;
  select array_agg((j.id, j.token, 'released', null, null,
      jsonb_build_object('reason', 'worker_stopped'))::_qwf.report order by j.id) into v_reports
  from qwf.jobs j
  where j.claimed_by = deregister_worker.worker and j.status = 'running';
  if v_reports is not null then
    perform _qwf.end_attempts(v_reports);
  end if;
  delete from qwf.sleepers s where s.worker = deregister_worker.worker;
  update qwf.workers w set stopped_at = qwf.now()
  where w.id = deregister_worker.worker and w.stopped_at is null
  returning w.* into v_worker;
  if found then
    insert into _qwf.event_log (at, kind, subject, detail)
    values (v_worker.stopped_at, 'worker_stopped', v_worker.host, jsonb_build_object(
      'worker', v_worker.id, 'host', v_worker.host, 'queue', v_worker.queue,
      'released', coalesce(cardinality(v_reports), 0)));
  end if;
end $$;
comment on function qwf.deregister_worker is
  'Marks the worker as stopped and releases the jobs it held.';
call _qwf.allow('qwf.deregister_worker', 'qwf_worker');

commit;
