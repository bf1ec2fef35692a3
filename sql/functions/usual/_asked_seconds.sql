-- Deploy qwf:functions/usual/_asked_seconds
-- Purpose: Returns for how many seconds a run waited for the answers of people.
-- Guarantees: Reads the events of the run. A question without an answer counts until p_until.
-- Called by: _judge_runs, _learn_runs.

begin;

create function _qwf.asked_seconds(p_run bigint, p_from timestamptz, p_until timestamptz)
returns float8
language sql stable
as $$
  select coalesce(sum(date_part('epoch', least(e.until, p_until) - a.at)), 0)
  from _qwf.event_log a
  left join lateral (
    select min(b.at) as until from _qwf.event_log b
    where b.run_id = a.run_id and b.job_id = a.job_id and b.id > a.id
      and b.kind in ('question_answered', 'expired', 'cancelled', 'retried')) e on true
  where a.run_id = p_run and a.kind = 'question_asked' and a.at >= p_from and a.at < p_until
$$;

commit;
