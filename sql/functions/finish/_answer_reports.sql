-- Deploy qwf:functions/finish/_answer_reports
-- Purpose: Answers each report of a batch.
-- Guarantees: One row per report, in order. Where every report ended an attempt, which is the rule,
--   nothing is looked up. The hash join is allowed again here: both sides are
--   small and have no index.
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
      when _qwf.repeated(
        (r.job_id, r.token, r.outcome, r.output, r.error, r.detail)::_qwf.report) then 'ok'
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
