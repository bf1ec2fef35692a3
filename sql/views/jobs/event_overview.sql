-- Deploy qwf:views/jobs/event_overview
-- Purpose: Unusual events in the lives of jobs and runs.
-- Guarantees: A filter by job or by run is answered by an index; that by run finds the events of
--   its jobs too.

begin;

create view qwf.event_overview as
select
  e.id, e.at, e.run_id, e.job_id, null as node_id, null as task, e.kind as type,
  e.login, e.acting_for, e.detail
from _qwf.event_log e
where e.job_id is null
union all
select
  e.id, e.at, j.run_id, e.job_id, j.node_id, j.task, e.kind as type, e.login,
  e.acting_for, e.detail
from _qwf.event_log e
left join qwf.jobs j on j.id = e.job_id
where e.job_id is not null;
comment on view qwf.event_overview is
  'Unusual events of jobs and runs: select * from qwf.event_overview where job_id = 7 order by '
  'id.';
comment on column qwf.event_overview.id is 'Grows in order of writing.';
comment on column qwf.event_overview.at is 'When.';
comment on column qwf.event_overview.run_id is 'The run; null: none.';
comment on column qwf.event_overview.job_id is 'The job; null: the run as a whole, or neither.';
comment on column qwf.event_overview.node_id is 'Node of the job.';
comment on column qwf.event_overview.task is 'Task of the job.';
comment on column qwf.event_overview.type is 'Kind of the event.';
comment on column qwf.event_overview.login is 'Login of the session that did it.';
comment on column qwf.event_overview.acting_for is
  'For whom that session said it acts; nobody checks it.';
comment on column qwf.event_overview.detail is
  'Reason, readings, and what else helps to understand it.';

commit;
