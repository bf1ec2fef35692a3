-- Open alerts, their rules, messages and receivers.

-- The rules of alerts, with what is open, what was sent, and what went wrong.
create view qwf.alert_overview as
select
  a.name, a.kinds, a.rule -> 'where' as conditions,
  coalesce(a.rule #>> '{do,receiver}', 'task ' || (a.rule #>> '{do,task}'),
    'workflow ' || (a.rule #>> '{do,workflow}')) as tells,
  a.notify is not null as by_producers, o.open, m.sent_at, m.waiting, m.undelivered, a.storm_at,
  a.last_error, a.last_error_at, a.login, a.acting_for, a.changed_at, a.rule
from qwf.alerts a
cross join lateral (
  select count(*) as open from qwf.open_alerts o
  where o.rule = a.name and o.opened_at is not null and o.closed_at is null) o
cross join lateral (
  select (select max(l.created_at) from qwf.alert_messages l where l.rule = a.name) as sent_at,
    count(*) filter (where j.status in ('scheduled', 'queued', 'running')) as waiting,
    count(*) filter (where j.status = 'failed') as undelivered
  from qwf.alert_messages m
  cross join lateral (  -- offset: each by its id, whatever the statistics say
    select b.status from qwf.jobs b where b.id = m.sent_job offset 0) j
  where m.rule = a.name and m.created_at > (select qwf.now()) - interval '2 days') m;
comment on view qwf.alert_overview is
  'The rules of alerts: whom each tells, what is open, and which messages were not delivered.';
comment on column qwf.alert_overview.name is 'Name of the rule.';
comment on column qwf.alert_overview.kinds is 'Kinds of events that open an alert.';
comment on column qwf.alert_overview.conditions is 'Names, labels and status that the events have.';
comment on column qwf.alert_overview.tells is 'The receiver, else the task or workflow.';
comment on column qwf.alert_overview.by_producers is
  'True: producers have named the receiver; false: an administrator has set the rule.';
comment on column qwf.alert_overview.open is 'How many alerts of it are open.';
comment on column qwf.alert_overview.sent_at is 'When it made its last message; null: never.';
comment on column qwf.alert_overview.waiting is
  'Messages of the last two days that are not delivered yet.';
comment on column qwf.alert_overview.undelivered is
  'Messages of the last two days whose delivery has failed for good.';
comment on column qwf.alert_overview.storm_at is
  'When it said last that there are too many, in this hour; null: there are not.';
comment on column qwf.alert_overview.last_error is 'Why it last could not be applied; null: never.';
comment on column qwf.alert_overview.last_error_at is 'When that was.';
comment on column qwf.alert_overview.login is 'Login of the session that set it.';
comment on column qwf.alert_overview.acting_for is 'For whom that session said it acts.';
comment on column qwf.alert_overview.changed_at is 'When it was last set.';
comment on column qwf.alert_overview.rule is 'The rule with its defaults; durations in seconds.';

-- The messages of alerts, and whether each was delivered.
create view qwf.message_overview as
select
  m.id, m.alert_id, m.rule, m.state, m.subject,
  coalesce(m.receiver, 'task ' || j.task, 'workflow ' || r.workflow) as sent_to, m.created_at,
  m.sent_job, m.sent_run, coalesce(j.status::text, r.status::text) as delivery,
  split_part(left(coalesce(j.last_error, r.error), 500), E'\n', 1) as delivery_error
from qwf.alert_messages m
left join qwf.jobs j on j.id = m.sent_job
left join qwf.runs r on r.id = m.sent_run;
comment on view qwf.message_overview is
  'The messages of alerts, and whether each was delivered: '
  'select * from qwf.message_overview order by created_at desc limit 10.';
comment on column qwf.message_overview.id is
  'Id of the message, the same in each try to deliver it.';
comment on column qwf.message_overview.alert_id is 'The alert; null: a storm or a test.';
comment on column qwf.message_overview.rule is 'Name of the rule.';
comment on column qwf.message_overview.state is 'open, still, resolved, storm or test.';
comment on column qwf.message_overview.subject is 'Name of what it is about.';
comment on column qwf.message_overview.sent_to is
  'Who gets it: the receiver, else the task or workflow.';
comment on column qwf.message_overview.created_at is 'When the rule made it.';
comment on column qwf.message_overview.sent_job is 'The job that delivers it; null: a run does.';
comment on column qwf.message_overview.sent_run is
  'The run that gets it; null: a job delivers it.';
comment on column qwf.message_overview.delivery is
  'Status of that job or run: completed means delivered. Null: it is deleted.';
comment on column qwf.message_overview.delivery_error is
  'Why its last try failed, one line of at most 500 characters; null: it did not.';

-- Alerts, open ones and closed ones, with the last message of each and its delivery.
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

-- The receivers of messages that live agents have, or that an administrator's rule names. Names
-- alone: where a receiver leads is in qwf.toml of its box.
create view qwf.receiver_overview as
select
  n.receiver,
  array(
    select distinct w.host from qwf.workers w cross join qwf.settings s
    where w.queue = 'qwf.alerts' and w.stopped_at is null
      and w.last_seen > qwf.now() - s.worker_stale
      and w.labels ->> ('receiver.' || n.receiver) = 'true'
    order by w.host) as hosts,
  array(
    select a.name from qwf.alerts a
    where a.notify is null and a.rule #>> '{do,receiver}' = n.receiver
      or a.name = 'qwf.notify.' || n.receiver
    order by a.name) as rules,
  (
    select max(m.created_at) from qwf.alert_messages m where m.receiver = n.receiver) as sent_at
from (
  select substr(l.key, 10) as receiver
  from qwf.workers w cross join qwf.settings s cross join lateral jsonb_each_text(w.labels) l
  where w.queue = 'qwf.alerts' and w.stopped_at is null
    and w.last_seen > qwf.now() - s.worker_stale
    and starts_with(l.key, 'receiver.') and l.value = 'true'
  union
  select a.rule #>> '{do,receiver}' from qwf.alerts a
  where a.notify is null and a.rule #> '{do,receiver}' is not null) n;
comment on view qwf.receiver_overview is
  'The receivers that live agents of queue qwf.alerts have, or that a rule of an administrator '
  'names: '
  'select receiver from qwf.receiver_overview where hosts = ''{}'' lists those that nobody has.';
comment on column qwf.receiver_overview.receiver is 'Its name.';
comment on column qwf.receiver_overview.hosts is
  'Hosts whose live agents have it; empty: nobody has, and messages to it wait.';
comment on column qwf.receiver_overview.rules is 'The rules that tell it.';
comment on column qwf.receiver_overview.sent_at is
  'When the last message to it was made; null: there is none.';
