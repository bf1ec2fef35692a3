-- Deploy qwf:views/events/current_alerts
-- Purpose: The alerts that are open: what is wrong now.

begin;

create view qwf.current_alerts as
select
  o.id, o.rule, o.kind, o.subject, o.opened_at, o.events, o.first_at, o.last_at, o.run_id, o.job_id,
  o.messages, o.sent_at, o.send_at, o.close_at
from qwf.open_alerts o
where o.opened_at is not null and o.closed_at is null;
comment on view qwf.current_alerts is 'The alerts that are open: a row each.';
comment on column qwf.current_alerts.id is 'Grows with time.';
comment on column qwf.current_alerts.rule is 'Name of the rule.';
comment on column qwf.current_alerts.kind is 'Kind of the last event.';
comment on column qwf.current_alerts.subject is 'Name of what it is about.';
comment on column qwf.current_alerts.opened_at is 'When it opened.';
comment on column qwf.current_alerts.events is 'Events since then.';
comment on column qwf.current_alerts.first_at is 'When the first of them happened.';
comment on column qwf.current_alerts.last_at is 'When the last of them happened.';
comment on column qwf.current_alerts.run_id is 'Run of the last event; null: none.';
comment on column qwf.current_alerts.job_id is 'Job of the last event; null: none.';
comment on column qwf.current_alerts.messages is 'Messages so far.';
comment on column qwf.current_alerts.sent_at is 'When the last one went out; null: none did.';
comment on column qwf.current_alerts.send_at is 'When the next one is due; null: none is.';
comment on column qwf.current_alerts.close_at is
  'When it closes unless something more happens; null: it waits for a good end.';

commit;
