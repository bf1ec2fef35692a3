-- Deploy qwf:views/run_overview
-- requires: schema/runs
-- requires: schema/jobs
-- requires: functions/now
-- Purpose: One line for each run: how far it is, and what went wrong.

begin;

create view qwf.run_overview as
select
  r.id, r.workflow, r.workflow_version as version, r.status, r.project, r.priority,
  n.done, r.node_count as total, n.failed, n.running, n.waiting, r.error,
  r.created_at, r.started_at, r.finished_at,
  round(extract(epoch from coalesce(r.finished_at, qwf.now()) - r.started_at), 3) as seconds
from qwf.runs r
cross join lateral (
  select
    count(*) filter (where j.status in ('completed', 'skipped')) as done,
    count(*) filter (where j.status = 'failed') as failed,
    count(*) filter (where j.status = 'running') as running,
    count(*) filter (where j.status = 'awaiting_input') as waiting
  from qwf.jobs j
  where j.run_id = r.id
) n;
comment on view qwf.run_overview is
  'Runs with their progress: select * from qwf.run_overview order by id desc limit 20.';
comment on column qwf.run_overview.id is 'Run id.';
comment on column qwf.run_overview.workflow is 'Name of the workflow.';
comment on column qwf.run_overview.version is 'Version of the workflow.';
comment on column qwf.run_overview.status is 'State of the run.';
comment on column qwf.run_overview.project is 'Tenant tag.';
comment on column qwf.run_overview.priority is 'Lower is sooner.';
comment on column qwf.run_overview.done is 'Nodes completed or skipped.';
comment on column qwf.run_overview.total is 'Nodes in all.';
comment on column qwf.run_overview.failed is 'Nodes failed.';
comment on column qwf.run_overview.running is 'Nodes running.';
comment on column qwf.run_overview.waiting is 'Nodes waiting for a person.';
comment on column qwf.run_overview.error is 'Why it failed or was cancelled.';
comment on column qwf.run_overview.created_at is 'When it was enqueued.';
comment on column qwf.run_overview.started_at is 'When its first node started.';
comment on column qwf.run_overview.finished_at is 'When it ended.';
comment on column qwf.run_overview.seconds is 'Seconds from start to end, or to now.';

commit;
