-- Deploy qwf:views/jobs/dependency_overview
-- Purpose: The jobs that a node of a run waits for, and those whose outputs it reads.

begin;

create view qwf.dependency_overview as
select
  j.id as job_id, j.run_id, d.id as needs_job_id, d.node_id, d.status, d.on_failure, u.waits,
  u.reads
from qwf.jobs j
join qwf.graph_nodes n on n.graph_id = j.graph_id and n.idx = j.node_idx
cross join lateral (
  select s.idx, bool_or(s.waits) as waits, bool_or(not s.waits) as reads
  from (
    select e.from_idx, true
    from qwf.graph_edges e
    where e.graph_id = n.graph_id and e.to_idx = n.idx
    union all
    select r.idx, false from unnest(n.ref_nodes) r (idx)
  ) s (idx, waits)
  group by s.idx
) u
join qwf.jobs d on d.run_id = j.run_id and d.node_idx = u.idx;
comment on view qwf.dependency_overview is
  'Jobs that nodes wait for or read: select * from qwf.dependency_overview where job_id = 7.';
comment on column qwf.dependency_overview.job_id is 'The job that depends.';
comment on column qwf.dependency_overview.run_id is 'Run of both.';
comment on column qwf.dependency_overview.needs_job_id is 'The job it depends on.';
comment on column qwf.dependency_overview.node_id is 'Node of that job.';
comment on column qwf.dependency_overview.status is 'State of that job.';
comment on column qwf.dependency_overview.on_failure is
  'The effect of its failure: fail, continue or ask; null: as its queue says.';
comment on column qwf.dependency_overview.waits is
  'True: the job does not start before this one has ended.';
comment on column qwf.dependency_overview.reads is
  'True: the inputs, skip_if or question of the job refer to its output.';

commit;
