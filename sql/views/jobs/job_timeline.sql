-- Deploy qwf:views/jobs/job_timeline
-- Purpose: History of a job, in order: its attempts and unusual events.

begin;

create view qwf.job_timeline as
select
  j.id as job_id, j.run_id, coalesce(j.node_id, j.task) as name,
  date_trunc('milliseconds', t.at) as at, t.attempt, t.what, t.by,
  round(t.waited, 3) as waited, round(t.took, 3) as took, t.detail
from qwf.jobs j
cross join (select qwf.now() as now) clock
cross join lateral (
  select
    a.started_at, a.attempt, a.outcome, a.worker, extract(epoch from a.started_at - a.queued_at),
    extract(epoch from a.finished_at - a.started_at),
    left(concat_ws(': ', left(a.detail ->> 'reason', 1000), split_part(a.error, E'\n', 1)), 200)
  from qwf.job_attempts a
  where a.job_id = j.id
  union all
  select j.claimed_at, j.attempt, 'running', j.claimed_by,
    extract(epoch from j.claimed_at - j.queued_at), extract(epoch from clock.now - j.claimed_at),
    (select p.message from qwf.job_progress p where p.job_id = j.id and p.attempt = j.attempt)
  where j.status = 'running'
  union all
  select e.at, null, e.kind,
    coalesce(e.detail ->> 'worker',
      quote_ident(e.login) || coalesce(', acting for ' || e.acting_for, '')),
    null, null, left(nullif(e.detail, '{}')::text, 200)
  from _qwf.event_log e
  where e.job_id = j.id and e.kind <> 'job_failed'  -- its attempt tells
) t (at, attempt, what, by, waited, took, detail)
order by j.id, t.at, t.attempt;
comment on view qwf.job_timeline is
  'Attempts at a job and unusual events, in order: select * from qwf.job_timeline where job_id = '
  '1.';
comment on column qwf.job_timeline.job_id is 'The job.';
comment on column qwf.job_timeline.run_id is 'Its run; null: standalone.';
comment on column qwf.job_timeline.name is 'Its node, or the task of a standalone job.';
comment on column qwf.job_timeline.at is 'When it happened; of an attempt, when it was claimed.';
comment on column qwf.job_timeline.attempt is 'Which claim it was, from 1; null: an event.';
comment on column qwf.job_timeline.what is
  'How the attempt ended, or running; of an event, its kind.';
comment on column qwf.job_timeline.by is
  'Worker that held it; of an event, the login that did it and for '
  'whom, or the worker.';
comment on column qwf.job_timeline.waited is 'Seconds from claimable to claimed.';
comment on column qwf.job_timeline.took is 'Seconds from claimed to the end, or to now.';
comment on column qwf.job_timeline.detail is
  'Reason and first line of the error, last progress message, or details of the event.';

commit;
