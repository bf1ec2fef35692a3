-- Deploy qwf:functions/finish/_answer_reports
-- Purpose: Answers each report of a batch.
-- Guarantees: One row per report, in order. A report that was taken before is answered ok again. If
--   every report ended an attempt, which is the normal case, nothing is looked up. The hash join is
--   allowed again here: both sides are small and have no index.
-- Called by: _end_attempts.

begin;

create function _qwf.answer_reports(p_reports _qwf.report[], p_ended _qwf.ended[], p_left bigint[])
returns setof qwf.report_verdict
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_hashjoin = on
as $$
begin
  if cardinality(p_ended) = cardinality(p_reports) and p_left = '{}' then
    return query select r.job_id, 'ok', false from unnest(p_reports) r;
    return;
  end if;
  return query
  select
    r.job_id,
    case
      when r.nth = 1 and e.id is not null then 'ok'
      when exists (  -- the same report again: a token ends one attempt
        select from qwf.job_attempts a join qwf.jobs j on j.id = a.job_id
        where a.job_id = r.job_id and a.token = r.token
          and a.outcome = r.outcome and a.error is not distinct from r.error
          and (j.attempt > a.attempt or j.status <> 'completed'
            or j.output is not distinct from r.output)) then 'ok'
      else 'lost'
    end,
    coalesce(e.run_id = any (p_left), false)
  from (
    select u.*, row_number() over (partition by u.job_id, u.token order by u.ord) as nth
    from unnest(p_reports) with ordinality u (job_id, token, outcome, output, error, detail, ord)
  ) r
  left join unnest(p_ended) e on e.id = r.job_id and e.token = r.token
  order by r.ord;
end $$;

commit;
