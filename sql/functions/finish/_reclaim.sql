-- Deploy qwf:functions/finish/_reclaim
-- Purpose: Takes back running jobs whose lease lapsed: the only recovery path for a lost worker.
-- Guarantees: Counts a loss; the job goes to the front of its band, or fails if it has no losses
--   left. The old token is no longer valid. If the end of one is refused, which a trigger of the
--   site may do, each is taken back by itself; that one is named in a WARNING and waits a minute.
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
  v_report _qwf.report;
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
  begin
    perform _qwf.end_attempts(v_reports) where v_reports is not null;
    return query select r.job_id from unnest(v_reports) r;
    return;
  exception
    when others then
      if _qwf.is_passing_error(sqlstate) then raise; end if;
  end;
  foreach v_report in array v_reports loop
    begin
      perform _qwf.end_attempts(array[v_report]);
      return next v_report.job_id;
    exception
      when others then
        if _qwf.is_passing_error(sqlstate) then raise; end if;
        update qwf.jobs j set lease_expires_at = v_now + interval '1 min'
        where j.id = v_report.job_id;
        raise warning using message = 'a lost job cannot be taken back',
          detail = format('job %s: %s %s', v_report.job_id, sqlstate, sqlerrm),
          hint = 'it is tried again every minute, the others do not wait for it';
    end;
  end loop;
end $$;

commit;
