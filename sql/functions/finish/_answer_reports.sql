-- Deploy qwf:functions/finish/_answer_reports
-- Purpose: Answers each report of a batch, once the attempts that end are written.
-- Guarantees: One row per report, in order. ok if the attempt of this token ended just as the
--   report says, now or by the same report before. A report that is repeated about a job that left
--   no row is answered lost, unless it is repeated in the same batch.
-- Called by: finish_many.

begin;

create function _qwf.answer_reports(
  p_reports _qwf.report[], p_pending bigint[], p_dropped uuid[])
returns setof qwf.report_verdict
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  select
    r.job_id,
    case when r.token = any (p_dropped) and r.outcome = 'completed'
        and _qwf.job_of_token(r.token) = r.job_id
      or exists (  -- a token ends one attempt
      select from qwf.job_attempts a
      where a.job_id = r.job_id and a.token = r.token
        and a.outcome = r.outcome and a.error is not distinct from r.error
        and (j.attempt > a.attempt or j.status <> 'completed'
          or j.output is not distinct from r.output)) then 'ok' else 'lost' end,
    coalesce(j.run_id = any (p_pending), false)
  from unnest(p_reports) with ordinality r (job_id, token, outcome, output, error, detail, ord)
  left join lateral (
    select b.run_id, b.attempt, b.status, b.output
    from qwf.jobs b where b.id = r.job_id offset 0) j on true
  order by r.ord;
end $$;

commit;
