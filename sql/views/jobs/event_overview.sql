-- Deploy qwf:views/jobs/event_overview
-- Purpose: Events of jobs and runs, also those that have no number yet.
-- Guarantees: A filter by job or by run is answered by an index; that by run finds the events of
--   its jobs too.

begin;

create view qwf.event_overview as
select
  e.id, e.seq, e.at, e.run_id, e.job_id, j.node_id, j.task, e.kind, e.login, e.acting_for, e.detail
from _qwf.event_log e
left join qwf.jobs j on j.id = e.job_id;
comment on view qwf.event_overview is
  'Events of jobs and runs, also those that have no number yet: select * from qwf.event_overview '
  'where job_id = 7 order by id.';
comment on column qwf.event_overview.id is 'Grows in order of writing.';
comment on column qwf.event_overview.seq is 'Its number in qwf.events; null: none yet.';
comment on column qwf.event_overview.at is 'When.';
comment on column qwf.event_overview.run_id is 'The run; null: none.';
comment on column qwf.event_overview.job_id is 'The job; null: the run as a whole, or neither.';
comment on column qwf.event_overview.node_id is 'Node of the job.';
comment on column qwf.event_overview.task is 'Task of the job.';
comment on column qwf.event_overview.kind is 'Kind of event; see docs/events.md.';
comment on column qwf.event_overview.login is
  'Login of the session that did it: nobody can set it.';
comment on column qwf.event_overview.acting_for is
  'For whom that session said it acts; nobody checks it. Null: it said nothing.';
comment on column qwf.event_overview.detail is
  'Reason, readings, and what else helps to understand it.';

commit;
