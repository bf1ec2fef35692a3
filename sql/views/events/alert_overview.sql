-- Deploy qwf:views/events/alert_overview
-- Purpose: The rules of alerts, with what is open, what was sent, and what went wrong.

begin;

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

commit;
