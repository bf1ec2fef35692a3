-- Deploy qwf:functions/finish/_finish_rest
-- Purpose: Takes the reports of a call that have not ended their attempt, does what follows from
--   those that have, and answers each report.
-- Guarantees: p_ended: what the ordinary way has ended. Its reports are answered ok, and so is one
--   that repeats the report which ended an attempt.
-- Locks: the reported jobs (by id), then the runs that are free (by id), then jobs of those runs.
-- Notifies: sleepers of queues that got work; workers whose bodies have to stop.
-- Called by: finish_many.

begin;

create function _qwf.finish_rest(p_reports jsonb, p_ended _qwf.finished)
returns setof qwf.report_verdict
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_reports _qwf.report[] := '{}';
  v_done _qwf.finished;
begin
  if p_ended.count is distinct from jsonb_array_length(p_reports) then
    v_reports := _qwf.read_reports(p_reports);
  end if;
  v_done := _qwf.end_attempts(v_reports, p_ended);
  if v_done.count = jsonb_array_length(p_reports) and v_done.pending is null then
    return query
    select (r.value ->> 'job_id')::bigint, 'ok', false from jsonb_array_elements(p_reports) r;
    return;
  end if;
  return query
  select
    r.job_id,
    case when r.token = any (v_done.dropped) and r.outcome = 'completed'
        and _qwf.job_of_token(r.token) = r.job_id
      or exists (  -- a token ends one attempt
      select from qwf.job_attempts a
      where a.job_id = r.job_id and a.token = r.token
        and (a.outcome = r.outcome and a.error is not distinct from r.error
          or r.outcome = 'fatal' and a.detail ->> 'reason' = 'older_code')
        and (j.attempt > a.attempt or j.status <> 'completed'
          or j.output is not distinct from r.output)) then 'ok' else 'lost' end,
    coalesce(j.run_id = any (v_done.pending), false)
  from unnest(_qwf.read_reports(p_reports))
    with ordinality r (job_id, token, outcome, output, error, detail, n)
  left join lateral (
    select b.run_id, b.attempt, b.status, b.output
    from qwf.jobs b where b.id = r.job_id offset 0) j on true
  order by r.n;
end $$;

commit;
