-- Runs with their state, their tries and their use of machines.

-- One line for each run: its progress, and what went wrong.
create view qwf.run_overview as
select
  r.id, r.workflow, r.workflow_version as version, r.status, r.project, n.done,
  r.node_count as total, n.failed, coalesce(b.running, 0) as running,
  coalesce(q.waiting, 0) as waiting,
  round(extract(epoch from coalesce(r.finished_at, clock.now) - r.started_at), 3) as seconds,
  date_trunc('second', r.created_at) as created_at,
  case when r.finished_at is null and isfinite(r.deadline_at)
    then date_trunc('second', r.deadline_at - clock.now) end as deadline_in,
  left(case when r.finished_at is null then 'ends ' || r.ending || ': ' else '' end
    || split_part(r.error, E'\n', 1), 80) as error
from qwf.runs r
cross join (select qwf.now() as now) clock
cross join lateral (  -- nodes only: elements of maps have no node_idx
  select count(*) filter (where j.status in ('completed', 'skipped')) as done,
    count(*) filter (where j.status = 'failed') as failed
  from qwf.jobs j
  where j.run_id = r.id and j.node_idx is not null
) n
left join (
  select j.run_id, count(*) as running
  from qwf.jobs j
  where j.status = 'running'
  group by j.run_id
) b on b.run_id = r.id
left join (
  select j.run_id, count(*) as waiting
  from qwf.waits w join qwf.jobs j on j.id = w.job_id
  where w.kind = 'question'
  group by j.run_id
) q on q.run_id = r.id
order by r.id desc;
comment on view qwf.run_overview is
  'Runs with their progress, the newest first: select * from qwf.run_overview limit 20.';
comment on column qwf.run_overview.id is 'Run id.';
comment on column qwf.run_overview.workflow is 'Name of the workflow.';
comment on column qwf.run_overview.version is 'Version of the workflow.';
comment on column qwf.run_overview.status is 'State of the run.';
comment on column qwf.run_overview.project is 'Tenant tag.';
comment on column qwf.run_overview.done is 'Nodes completed or skipped.';
comment on column qwf.run_overview.total is 'Nodes in all; a map counts as one.';
comment on column qwf.run_overview.failed is 'Failed nodes, whether or not the run went on.';
comment on column qwf.run_overview.running is 'Running bodies, including those of map elements.';
comment on column qwf.run_overview.waiting is 'Questions that wait for a person.';
comment on column qwf.run_overview.seconds is 'Seconds from start to end, or to now.';
comment on column qwf.run_overview.created_at is 'When it was enqueued.';
comment on column qwf.run_overview.deadline_in is
  'Time left until it fails; null: no deadline, or ended.';
comment on column qwf.run_overview.error is
  'Why it failed or was cancelled, or will be when its clean-up nodes have ended.';

-- Everything about a run that is not about its nodes. One row a run. Reads the tables behind a
-- column only if the column is asked for.
create view qwf.run_details as
select
  r.id, r.workflow, r.workflow_version as version, r.graph_id,
  (select g.created_at from qwf.graphs g where g.id = r.graph_id) as graph_at,
  r.status, r.project, r.key, r.once, r.priority, r.context, r.labels, r.out_dir,
  r.login, r.acting_for, r.schedule,
  r.node_count as total, r.ending, r.then_retry is not null as takes_back_first, r.error, r.run_at,
  r.deadline_at,
  case when r.finished_at is null and isfinite(r.deadline_at)
    then r.deadline_at - clock.now end as deadline_in,
  p.run_id as parent_run, p.node_id as parent_node,
  r.created_at, r.started_at, e.retried_at, r.finished_at,
  extract(epoch from coalesce(r.finished_at, clock.now) - r.started_at)::float8 as seconds
from qwf.runs r
cross join (select qwf.now() as now) clock
left join qwf.jobs p on p.id = r.parent_id
left join lateral (
  select max(t.at) as retried_at from _qwf.event_log t
  where t.run_id = r.id and t.job_id is null and t.kind = 'retried'
) e on true;
comment on view qwf.run_details is
  'A run without its nodes: select * from qwf.run_details where id = 7.';
comment on column qwf.run_details.id is 'Run id; grows with time.';
comment on column qwf.run_details.workflow is 'Name of the workflow.';
comment on column qwf.run_details.version is 'Version of the workflow.';
comment on column qwf.run_details.graph_id is
  'The compiled workflow it executes, as it was when the run was enqueued.';
comment on column qwf.run_details.graph_at is 'When that was compiled.';
comment on column qwf.run_details.parent_run is 'Run above it; null: it is no step of a run.';
comment on column qwf.run_details.parent_node is 'Node of that run that it is.';
comment on column qwf.run_details.status is 'State; see docs/concepts.md.';
comment on column qwf.run_details.project is 'Tenant tag; empty is a project like any other.';
comment on column qwf.run_details.key is
  'Idempotency key, unique per project and workflow while the run is not terminal.';
comment on column qwf.run_details.once is 'True: the key stays taken until the row is deleted.';
comment on column qwf.run_details.priority is 'Priority of its jobs; lower is sooner.';
comment on column qwf.run_details.context is
  'Initial values that references read; never changed.';
comment on column qwf.run_details.labels is
  'Tags of the caller. Searches filter by them; no claim does.';
comment on column qwf.run_details.out_dir is
  'Folder under which bodies write; null: the agent''s own.';
comment on column qwf.run_details.login is
  'Login that began it; for a schedule, that of who called tick().';
comment on column qwf.run_details.acting_for is
  'For whom that login said it acts; nobody checks it.';
comment on column qwf.run_details.schedule is 'The schedule that began it; null: none did.';
comment on column qwf.run_details.total is 'Number of nodes.';
comment on column qwf.run_details.ending is
  'How it will end once its clean-up and compensation nodes have; null: open, or it has none.';
comment on column qwf.run_details.takes_back_first is
  'True: its compensation nodes take back what its retry runs again after that.';
comment on column qwf.run_details.error is 'Why it failed or was cancelled.';
comment on column qwf.run_details.run_at is 'Not started before this time; null: at once.';
comment on column qwf.run_details.deadline_at is
  'It fails if it has not ended by then; null: no deadline.';
comment on column qwf.run_details.deadline_in is
  'Time left until then; null: it has ended, or has no deadline.';
comment on column qwf.run_details.created_at is 'When it was enqueued.';
comment on column qwf.run_details.started_at is
  'When the first node of its last try was claimed or applied; null: it waits.';
comment on column qwf.run_details.retried_at is 'When it was retried last; null: never.';
comment on column qwf.run_details.finished_at is 'When it became terminal.';
comment on column qwf.run_details.seconds is
  'Seconds from the start of its last try to its end or to now.';

-- How each try of a run has ended, the first one and each retry, and which version of its
-- workflow it executed. A filter by run is answered by an index. The try that goes on is not in
-- it.
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

-- Use of the attempts of a run. One row a run. Reads all attempts of the run, those of map
-- elements included, and no others.
create view qwf.run_usage as
select
  r.id as run_id, a.attempts, a.cpu_seconds, a.gpu_seconds, a.lost_seconds, a.rss_bytes, a.gpu_bytes
from qwf.runs r
cross join lateral (
  select
    count(*) as attempts,
    coalesce(sum(_qwf.as_number(t.detail -> 'cpu_seconds')), 0)::float8 as cpu_seconds,
    coalesce(sum(extract(epoch from t.finished_at - t.started_at))
      filter (where _qwf.as_number(t.detail -> 'gpu_peak_bytes') > 0), 0)::float8 as gpu_seconds,
    coalesce(sum(extract(epoch from t.finished_at - t.started_at))
      filter (where t.outcome <> 'completed'), 0)::float8 as lost_seconds,
    max(_qwf.as_number(t.detail -> 'max_rss_bytes'))::bigint as rss_bytes,
    max(_qwf.as_number(t.detail -> 'gpu_peak_bytes'))::bigint as gpu_bytes
  from qwf.jobs j
  cross join lateral (  -- offset: else the planner may read the attempts of all runs
    select * from qwf.job_attempts t where t.job_id = j.id offset 0) t
  where j.run_id = r.id
) a;
comment on view qwf.run_usage is
  'Use of the ended attempts of runs: select * from qwf.run_usage where run_id = 7.';
comment on column qwf.run_usage.run_id is 'Run id.';
comment on column qwf.run_usage.attempts is 'Attempts that have ended.';
comment on column qwf.run_usage.cpu_seconds is 'Processor time, seconds.';
comment on column qwf.run_usage.gpu_seconds is 'Time of attempts that used a GPU, seconds.';
comment on column qwf.run_usage.lost_seconds is 'Time of attempts that did not complete, seconds.';
comment on column qwf.run_usage.rss_bytes is 'Most memory that one of them used.';
comment on column qwf.run_usage.gpu_bytes is 'Most GPU memory that one of them used.';
