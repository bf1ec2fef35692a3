-- Deploy qwf:views/runs/run_details
-- Purpose: Everything about a run that is not about its nodes.
-- Guarantees: One row a run. Reads the tables behind a column only if the column is asked for.
-- Called by: people, qwf web.

begin;

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

commit;
