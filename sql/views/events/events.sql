-- Deploy qwf:views/events/events
-- Purpose: Everything that happened, in one order that never changes.
-- Guarantees: Numbers grow by one. An event whose transaction commits later gets a later number, so
--   who has read up to a number misses nothing by going on from it. It shows no event that has no
--   number yet.

begin;

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

commit;
