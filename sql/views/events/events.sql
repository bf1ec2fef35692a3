-- Events, the audit log, and the kinds of events.

-- Everything that happened, in one order that never changes. Numbers grow by one. An event whose
-- transaction commits later gets a later number, so who has read up to a number misses nothing
-- by going on from it. It shows no event that has no number yet.
create view qwf.events as
select
  e.seq, e.at, e.kind, e.subject, e.names, e.run_id, e.job_id, e.login, e.acting_for, e.detail
from _qwf.event_log e
where e.seq is not null;
comment on view qwf.events is
  'Everything that happened, in order: select * from qwf.events where seq > 41 order by seq limit '
  '1000. Keep the last seq and go on from it.';
comment on column qwf.events.seq is 'Its number: each event has that of the one before plus 1.';
comment on column qwf.events.at is 'When it happened.';
comment on column qwf.events.kind is 'Kind of event; see docs/events.md.';
comment on column qwf.events.subject is
  'Name of what it happened to: workflow, task, schedule, queue, host.';
comment on column qwf.events.names is
  'Names by which events are found: project, workflow, node, task, queue, schedule, host, worker.';
comment on column qwf.events.run_id is 'The run; null: none.';
comment on column qwf.events.job_id is 'The job; null: the run as a whole, or neither.';
comment on column qwf.events.login is 'Login of the session that did it: nobody can set it.';
comment on column qwf.events.acting_for is
  'For whom that session said it acts; nobody checks it. Null: it said nothing.';
comment on column qwf.events.detail is 'Reason, readings, and what else helps to understand it.';

-- Acts of people and programs, and who they were: the events that somebody caused by a call, not
-- those that happened to a job. Shows an act as soon as it is committed, before it has a number.
-- The newest come from an index that has nothing else.
create view qwf.audit as
select
  e.id, e.seq, e.at, e.login, e.acting_for, e.kind, e.subject, e.run_id, e.job_id, e.detail
from _qwf.event_log e
where e.kind in (
  'settings_changed', 'queue_changed', 'limit_changed', 'schedule_changed', 'definition_changed',
  'schema_changed', 'worker_off', 'worker_on', 'worker_server', 'worker_model', 'worker_stopped',
  'host_forgotten', 'cancel_requested', 'cancelled', 'retried', 'erased', 'changed', 'fired',
  'question_answered', 'alert_changed')
  and not (e.kind = 'cancelled' and e.detail ?| '{worker,by_job}');  -- it has stopped; superseded
comment on view qwf.audit is
  'Who did what: select * from qwf.audit order by id desc limit 20. login is proved by the '
  'database, acting_for is what that session said.';
comment on column qwf.audit.id is 'Grows in order of writing.';
comment on column qwf.audit.seq is 'Its number in qwf.events; null: not numbered yet.';
comment on column qwf.audit.at is 'When.';
comment on column qwf.audit.login is 'Login of the session that did it: nobody can set it.';
comment on column qwf.audit.acting_for is
  'For whom that session said it acts; nobody checks it. Null: it said nothing.';
comment on column qwf.audit.kind is 'Kind of event; see docs/events.md.';
comment on column qwf.audit.subject is
  'Name of what was changed: queue, limit, schedule, setting, definition, host. Of a job or run, '
  'its task or workflow, as soon as it has a number.';
comment on column qwf.audit.run_id is 'The run; null: none.';
comment on column qwf.audit.job_id is 'The job; null: none, or the run as a whole.';
comment on column qwf.audit.detail is
  'old and new: the values that differ, before and after; reason and what else belongs to it.';

-- Events of jobs and runs, also those that have no number yet. A filter by job or by run is
-- answered by an index; that by run finds the events of its jobs too.
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
