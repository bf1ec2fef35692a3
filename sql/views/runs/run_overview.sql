-- Deploy qwf:views/runs/run_overview
-- Purpose: One line for each run: its progress, and what went wrong.

begin;

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

commit;
