-- Deploy qwf:functions/read/_why_asked
-- Purpose: Returns what a job waits for that asks a person, or waits for a signal.
-- Guarantees: Says what did not fit of the last signal of its name.
-- Called by: why_not.

begin;

create function _qwf.why_asked(p_job qwf.jobs) returns setof text
language sql stable
as $$
  select format('it waits for a person to answer: %s%s', p_job.input_spec ->> 'prompt',
    case when p_job.queue is null then ' until ' || p_job.expires_at end)
  where p_job.input_spec ? 'widget'
  union all
  select format('it waits for the signal %s%s%s', p_job.input_spec ->> 'signal',
    ' until ' || p_job.expires_at, case when array_remove(w.refused, -1) <> '{}' then
      '; the last one did not fit' || coalesce((
        select format(', sent at %s: %s', s.sent_at, string_agg(p.path || ' ' || p.problem, '; '))
        from qwf.signals s
        cross join lateral _qwf.answer_problems(p_job.input_spec, s.payload) p
        where s.project = w.project and s.name = w.name and s.id = any (w.refused)
        group by s.id
        order by s.id desc
        limit 1), '') end)
  from qwf.waits w
  where w.job_id = p_job.id and w.kind = 'signal'
$$;

commit;
