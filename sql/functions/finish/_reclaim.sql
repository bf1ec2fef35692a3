-- Deploy qwf:functions/finish/_reclaim
-- Purpose: Takes back running jobs whose lease lapsed: the only recovery path for a lost worker.
-- Guarantees: Counts a loss; the job goes to the front of its band, or fails if it has no losses
--   left. The old token is no longer valid.
-- Locks: lapsed jobs that are free, without waiting; then as _end_attempts.
-- Called by: _rest_when_idle.

begin;

create function _qwf.reclaim(p_max_jobs int default 100) returns setof bigint
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_material = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz := qwf.now();
  v_reports _qwf.report[];
begin
  with lapsed as materialized (
    select j.id, j.token, j.claimed_by, j.lease_expires_at
    from qwf.jobs j
    where j.status = 'running' and j.lease_expires_at < v_now
    order by j.claimed_by, j.id -- by id alone, the primary key may be walked to its end
    limit p_max_jobs
    for no key update skip locked
  )
  select array_agg((l.id, l.token, 'lost', null,
      format('lease of worker %s lapsed at %s', l.claimed_by, l.lease_expires_at),
      jsonb_build_object('reason', 'lease_lapsed'))::_qwf.report) into v_reports
  from lapsed l;
  if v_reports is not null then
    perform _qwf.end_attempts(v_reports);
    return query select r.job_id from unnest(v_reports) r;
  end if;
end $$;

commit;
