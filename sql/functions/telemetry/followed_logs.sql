-- Deploy qwf:functions/telemetry/followed_logs
-- Purpose: Returns a worker's running jobs whose logs somebody follows.
-- Called by: workers, when they are notified with log.

begin;

create function qwf.followed_logs(worker text) returns setof bigint
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
begin
  return query
  select l.job_id
  from qwf.live_logs l join qwf.jobs j on j.id = l.job_id
  where l.worker = followed_logs.worker and l.followed_until > v_now
    and j.status = 'running' and j.claimed_by = followed_logs.worker
  order by l.job_id;
end $$;
comment on function qwf.followed_logs is
  'Returns the running jobs of a worker whose logs it should send with report_log.';
call _qwf.allow('qwf.followed_logs', 'qwf_worker');

commit;
