-- Deploy qwf:functions/finish/reclaim
-- Purpose: Takes back running jobs whose lease lapsed: the only recovery path for a lost worker.
-- Guarantees: Counts a loss; the job goes to the front of its band, or fails if it has no losses
--   left. The old token is no longer valid.
-- Locks: lapsed jobs that are free, without waiting; then as _end_attempts.
-- Raises: QW005 for a negative bound.
-- Called by: tick.

begin;

create function qwf.reclaim(max_jobs int default 100) returns setof bigint
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_material = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
  v_reports _qwf.report[];
begin
  perform _qwf.check_count('max_jobs', reclaim.max_jobs);
  with lapsed as materialized (
    select j.id, j.token, j.claimed_by, j.lease_expires_at
    from qwf.jobs j
    where j.status = 'running' and j.lease_expires_at < v_now
    order by j.claimed_by, j.id -- by id alone, the primary key may be walked to its end
    limit reclaim.max_jobs
    for no key update skip locked
  )
  select array_agg((l.id, l.token, 'lost', null,
      format('lease of worker %s lapsed at %s', l.claimed_by, l.lease_expires_at),
      jsonb_build_object('reason', 'lease_lapsed'))::_qwf.report) into v_reports
  from lapsed l;
  if v_reports is not null then
    perform _qwf.end_attempts(v_reports, false);
    return query select r.job_id from unnest(v_reports) r;
  end if;
end $$;
comment on function qwf.reclaim is
  'Takes back at most max_jobs running jobs whose lease lapsed and returns their ids.';
call _qwf.allow('qwf.reclaim', 'qwf_worker');

commit;
