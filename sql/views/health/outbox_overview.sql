-- Deploy qwf:views/health/outbox_overview
-- Purpose: The events that are not applied to their runs yet.

begin;

create view qwf.outbox_overview as
select
  o.id, o.run_id, o.job_id, o.kind, o.tries, o.next_try_at, left(o.error, 1000) as error,
  o.poisoned_at, o.created_at
from qwf.outbox o;
comment on view qwf.outbox_overview is
  'Events that are not applied yet (order by id): select * from qwf.outbox_overview.';
comment on column qwf.outbox_overview.id is 'Grows in order of writing.';
comment on column qwf.outbox_overview.run_id is 'Run to apply it to.';
comment on column qwf.outbox_overview.job_id is 'Node it is about; null for stop.';
comment on column qwf.outbox_overview.kind is
  'completed, failed, cancelled, requeued, asked, ready or stop; see qwf.outbox.';
comment on column qwf.outbox_overview.tries is 'How often applying it failed.';
comment on column qwf.outbox_overview.next_try_at is 'Not tried before this time; null: at once.';
comment on column qwf.outbox_overview.error is 'Why the last try failed, at most 1,000 letters.';
comment on column qwf.outbox_overview.poisoned_at is
  'When it was given up; null: it is tried again.';
comment on column qwf.outbox_overview.created_at is 'When it was written.';

commit;
