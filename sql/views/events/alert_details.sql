-- Deploy qwf:views/events/alert_details
-- Purpose: Alerts, open ones and closed ones, with the last message of each and its delivery.

begin;

create view qwf.alert_details as
select
  o.id, o.rule, o.kind, o.subject, o.run_id, o.job_id, o.events, o.opened_at, o.first_at, o.last_at,
  o.closed_at, o.close_at, o.send_at, o.messages, o.sent_at, m.state as message,
  m.sent_to, m.sent_job, m.sent_run, m.delivery, m.delivery_error
from qwf.open_alerts o
left join lateral (
  select a.* from qwf.message_overview a
  where a.alert_id = o.id order by a.created_at desc, a.id desc limit 1) m on true
where o.opened_at is not null;
comment on view qwf.alert_details is
  'Alerts, a row each, with the last message of each: what is wrong now is '
  'select * from qwf.alert_details where closed_at is null.';
comment on column qwf.alert_details.id is 'Grows with time.';
comment on column qwf.alert_details.rule is 'Name of the rule.';
comment on column qwf.alert_details.kind is 'Kind of the last event.';
comment on column qwf.alert_details.subject is 'Name of what it is about.';
comment on column qwf.alert_details.run_id is 'Run of the last event; null: none.';
comment on column qwf.alert_details.job_id is 'Job of the last event; null: none.';
comment on column qwf.alert_details.events is 'Events since it opened.';
comment on column qwf.alert_details.opened_at is 'When it opened.';
comment on column qwf.alert_details.first_at is 'When the first of them happened.';
comment on column qwf.alert_details.last_at is 'When the last of them happened.';
comment on column qwf.alert_details.closed_at is 'When it closed; null: it is open.';
comment on column qwf.alert_details.close_at is
  'When it closes unless something more happens; null: it waits for a good end, or is closed.';
comment on column qwf.alert_details.send_at is 'When the next message is due; null: none is.';
comment on column qwf.alert_details.messages is 'Messages so far.';
comment on column qwf.alert_details.sent_at is 'When the last one was made; null: none was.';
comment on column qwf.alert_details.message is
  'The state in the last message: open, still or resolved; null: there is none.';
comment on column qwf.alert_details.sent_to is
  'Who gets the last message: the receiver, else the task or workflow.';
comment on column qwf.alert_details.sent_job is 'The job that delivers it; null: a run does.';
comment on column qwf.alert_details.sent_run is 'The run that gets it; null: a job delivers it.';
comment on column qwf.alert_details.delivery is
  'Status of that job or run: completed means delivered. Null: it is deleted, or there is none.';
comment on column qwf.alert_details.delivery_error is
  'Why its last try failed, 500 characters; null: it did not.';

commit;
