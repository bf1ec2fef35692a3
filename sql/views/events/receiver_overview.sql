-- Deploy qwf:views/events/receiver_overview
-- Purpose: The receivers of messages that live agents have, or that an administrator's rule names.
-- Guarantees: Names alone: where a receiver leads is in qwf.toml of its box.

begin;

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

commit;
