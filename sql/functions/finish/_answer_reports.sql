-- Deploy qwf:functions/finish/_answer_reports
-- Purpose: Answers each report of a call of which not all have ended an attempt, or after which
--   something waits for a run.
-- Guarantees: A report that repeats the one which ended an attempt is answered ok, too.
-- Called by: finish_many.

begin;

create function _qwf.answer_reports(p_reports jsonb, p_done _qwf.finished)
returns setof qwf.report_verdict
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select
    r.job_id,
    case when r.token = any (p_done.dropped) and r.outcome = 'completed'
        and _qwf.job_of_token(r.token) = r.job_id
      or exists (  -- a token ends one attempt
      select from qwf.job_attempts a
      where a.job_id = r.job_id and a.token = r.token
        and (a.outcome = r.outcome and a.error is not distinct from r.error
          or r.outcome = 'fatal' and a.detail ->> 'reason' = 'older_code')
        and (j.attempt > a.attempt or j.status <> 'completed'
          or j.output is not distinct from r.output)) then 'ok' else 'lost' end,
    coalesce(j.run_id = any (p_done.pending), false)
  from unnest(_qwf.read_reports(p_reports))
    with ordinality r (job_id, token, outcome, output, error, detail, n)
  left join lateral (
    select b.run_id, b.attempt, b.status, b.output
    from qwf.jobs b where b.id = r.job_id offset 0) j on true
  order by r.n
$$;

commit;
