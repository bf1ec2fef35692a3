-- Alert rules, the alerts that are open, and their messages.

-- Rules that say of which events somebody hears, what is wrong now, and the messages about it.
-- Who gets a message is the name of a receiver: its address is in the file of an agent, never
-- here.
insert into qwf.queues (name) values ('qwf.alerts');

create table qwf.alerts (
  name text primary key,
  rule jsonb not null,
  kinds text[] not null,
  notify text,
  login text not null default session_user,
  acting_for text default _qwf.acting_for(),
  changed_at timestamptz not null,
  hour_began timestamptz,
  hour_messages int not null default 0,
  storm_at timestamptz,
  last_error text,
  last_error_at timestamptz
);

create index alerts_set on qwf.alerts (name) where notify is null;

create index alerts_named on qwf.alerts (hour_began) where notify is not null;
comment on table qwf.alerts is
  'Rules: which events open an alert, and who gets a message. set_alert() writes them.';
comment on column qwf.alerts.name is
  'Name; qwf.notify.NAME is the rule of the jobs and runs whose producers have named a receiver.';
comment on column qwf.alerts.rule is 'The rule with its defaults; see docs/alerts.md.';
comment on column qwf.alerts.kinds is 'Kinds of events that open an alert.';
comment on column qwf.alerts.notify is
  'The receiver that producers have named; null: an administrator has set the rule.';
comment on column qwf.alerts.login is 'Login of the session that set it: nobody can set it.';
comment on column qwf.alerts.acting_for is
  'For whom that session said it acts; nobody checks it. Null: it said nothing.';
comment on column qwf.alerts.changed_at is 'When it was last set.';
comment on column qwf.alerts.hour_began is 'When the hour began in which its messages are counted.';
comment on column qwf.alerts.hour_messages is 'Its messages in that hour; at most about 20.';
comment on column qwf.alerts.storm_at is
  'When one message said in that hour that there are too many; null: there were not.';
comment on column qwf.alerts.last_error is 'Why the rule last could not be applied; null: never.';
comment on column qwf.alerts.last_error_at is 'When that was.';

create table qwf.open_alerts (
  id bigint generated always as identity primary key,
  rule text not null,
  key text not null,
  subject text,
  kind text not null,
  opened_at timestamptz,
  recent timestamptz[] not null default '{}',
  events bigint not null default 0,
  told bigint not null default 0,
  first_at timestamptz not null,
  last_at timestamptz not null,
  first_seq bigint not null,
  last_seq bigint not null,
  run_id bigint,
  job_id bigint,
  messages int not null default 0,
  send_at timestamptz,
  sent_at timestamptz,
  close_at timestamptz,
  closed_at timestamptz,
  waits_since timestamptz,
  due_at timestamptz generated always as (
    case when waits_since is not null and kind <> 'question_asked' then send_at
      else least(send_at, close_at) end) stored,
  asked_run bigint generated always as (case when kind = 'question_asked' then run_id end) stored,
  unique (rule, key)
) with (fillfactor = 50);  -- what happens again changes no index, and finds room in its page

create index open_alerts_due on qwf.open_alerts (due_at) where due_at is not null;

create index open_alerts_open on qwf.open_alerts (rule, id) where closed_at is null;

create index open_alerts_closed on qwf.open_alerts (closed_at) where closed_at is not null;

create index open_alerts_asked on qwf.open_alerts (asked_run) where asked_run is not null;
comment on table qwf.open_alerts is
  'Alerts, a row for each rule and subject: those that are open, and closed ones until '
  'events_keep.';
comment on column qwf.open_alerts.id is 'Grows with time.';
comment on column qwf.open_alerts.rule is 'Name of the rule.';
comment on column qwf.open_alerts.key is
  'Events with the same key count as one alert: the subject, or the value that "by" names.';
comment on column qwf.open_alerts.subject is 'Name of what it is about, as messages say it.';
comment on column qwf.open_alerts.kind is 'Kind of the last event that counted.';
comment on column qwf.open_alerts.opened_at is
  'When it opened; null: more_than events have not happened yet.';
comment on column qwf.open_alerts.recent is
  'Times of the last events until it opens, at most one more than more_than.';
comment on column qwf.open_alerts.events is 'Events since it opened.';
comment on column qwf.open_alerts.told is 'How many of them the last message has counted.';
comment on column qwf.open_alerts.first_at is 'When the first of them happened.';
comment on column qwf.open_alerts.last_at is 'When the last of them happened.';
comment on column qwf.open_alerts.first_seq is 'Number of the first event.';
comment on column qwf.open_alerts.last_seq is 'Number of the last event.';
comment on column qwf.open_alerts.run_id is 'Run of the last event; null: none.';
comment on column qwf.open_alerts.job_id is 'Job of the last event; null: none.';
comment on column qwf.open_alerts.messages is 'Messages so far.';
comment on column qwf.open_alerts.send_at is 'When the next message is due; null: none is.';
comment on column qwf.open_alerts.sent_at is 'When the last message went out; null: none did.';
comment on column qwf.open_alerts.close_at is
  'When it closes unless something more happens; null: it waits for a good end.';
comment on column qwf.open_alerts.closed_at is 'When it closed; null: it is open.';
comment on column qwf.open_alerts.waits_since is
  'Since when its first message is put off: the hour is full, or the rule raises; null: it is not. '
  'Until somebody is told, it does not close; a question that is answered does.';
comment on column qwf.open_alerts.asked_run is
  'Run that waits for the answer; null: it is about no question of a run.';
comment on column qwf.open_alerts.due_at is 'When something is to be done about it.';

create table qwf.alert_messages (
  id text primary key,
  alert_id bigint,
  rule text not null,
  state text not null check (state in ('open', 'still', 'resolved', 'storm', 'test')),
  subject text,
  receiver text,
  run_id bigint,
  job_id bigint,
  sent_job bigint,
  sent_run bigint,
  created_at timestamptz not null
);

create index alert_messages_run on qwf.alert_messages (run_id) where run_id is not null;

create index alert_messages_job on qwf.alert_messages (job_id) where job_id is not null;

create index alert_messages_alert on qwf.alert_messages (alert_id, created_at)
  where alert_id is not null;

create index alert_messages_rule on qwf.alert_messages (rule, created_at);

create index alert_messages_receiver on qwf.alert_messages (receiver, created_at)
  where receiver is not null;

create index alert_messages_age on qwf.alert_messages (created_at);
comment on table qwf.alert_messages is 'The messages of alerts, and the job that delivers each.';
comment on column qwf.alert_messages.id is 'Id of the message, the same in each try to deliver it.';
comment on column qwf.alert_messages.alert_id is 'The alert; null: a storm or a test.';
comment on column qwf.alert_messages.rule is 'Name of the rule.';
comment on column qwf.alert_messages.state is 'open, still, resolved, storm or test.';
comment on column qwf.alert_messages.subject is 'Name of what it is about.';
comment on column qwf.alert_messages.receiver is 'Name of the receiver; null: a task or workflow.';
comment on column qwf.alert_messages.run_id is 'The run that it is about; null: none.';
comment on column qwf.alert_messages.job_id is 'The job that it is about; null: none.';
comment on column qwf.alert_messages.sent_job is 'The job that delivers it; null: a run does.';
comment on column qwf.alert_messages.sent_run is 'The run that got it; null: a job delivers it.';
comment on column qwf.alert_messages.created_at is 'When the rule made it.';
