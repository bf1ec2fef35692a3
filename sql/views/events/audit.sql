-- Deploy qwf:views/events/audit
-- Purpose: Acts of people and programs, and who they were: the events that somebody caused by a
--   call, not those that happened to a job.
-- Guarantees: Shows an act as soon as it is committed, before it has a number. The newest come from
--   an index that has nothing else.

begin;

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

commit;
