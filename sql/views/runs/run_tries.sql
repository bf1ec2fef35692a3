-- Deploy qwf:views/runs/run_tries
-- Purpose: How each try of a run has ended, the first one and each retry, and which version of its
--   workflow it executed.
-- Guarantees: A filter by run is answered by an index. The try that goes on is not in it.

begin;

create view qwf.run_tries as
select
  e.run_id, row_number() over (partition by e.run_id order by e.id) as try,
  e.detail ->> 'status' as status, coalesce(m.old_version, r.workflow_version) as version,
  e.at - (e.detail ->> 'seconds')::float8 * interval '1 s' as started_at, e.at as finished_at,
  (e.detail ->> 'seconds')::float8 as seconds, e.detail ->> 'node' as node_id,
  e.detail ->> 'error' as error
from _qwf.event_log e
left join qwf.runs r on r.id = e.run_id
left join lateral (  -- the first move after it says what it moved from
  select (t.detail ->> 'old_version')::int as old_version
  from _qwf.event_log t
  where t.run_id = e.run_id and t.job_id is null and t.id > e.id
    and t.kind = 'retried' and t.detail ? 'old_version'
  order by t.id
  limit 1) m on true
where e.job_id is null and (e.kind = 'run_ended' or e.kind = 'retried' and e.detail ? 'status');
comment on view qwf.run_tries is
  'How each try of a run has ended: select * from qwf.run_tries where run_id = 7 order by try.';
comment on column qwf.run_tries.run_id is 'The run.';
comment on column qwf.run_tries.try is
  'Which try it was, from 1; of a run whose first tries are older than settings.events_keep, from '
  'the first that is kept.';
comment on column qwf.run_tries.status is 'How it ended: completed, failed or cancelled.';
comment on column qwf.run_tries.version is
  'Version of the workflow that it executed; null: the run is deleted.';
comment on column qwf.run_tries.started_at is 'When its first node was claimed or applied.';
comment on column qwf.run_tries.finished_at is 'When it ended.';
comment on column qwf.run_tries.seconds is 'Seconds from its start to its end.';
comment on column qwf.run_tries.node_id is 'Node that failed it; null: none did.';
comment on column qwf.run_tries.error is 'Why it failed or was cancelled, at most 500 characters.';

commit;
