-- Deploy qwf:functions/invariants/_alert_invariants
-- Purpose: Returns violated invariants of alerts and their messages.
-- Called by: check_invariants.

begin;

create function _qwf.alert_invariants() returns table (invariant text, subject text, detail text)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select 'an open alert has its rule', 'alert ' || o.id, o.rule
  from qwf.open_alerts o
  where o.closed_at is null and not exists (select from qwf.alerts a where a.name = o.rule)
  union all
  select 'nothing is due of a closed alert', 'alert ' || o.id,
    format('message due %s, closes %s', o.send_at, o.close_at)
  from qwf.open_alerts o where o.closed_at is not null and o.due_at is not null
  union all
  select 'an open alert has counted an event', 'alert ' || o.id, format('%s events', o.events)
  from qwf.open_alerts o where o.opened_at is not null and o.closed_at is null and o.events < 1
  union all
  select 'an alert counts events that have a number', 'alert ' || o.id,
    format('%s to %s of %s', o.first_seq, o.last_seq, n.last_seq)
  from qwf.open_alerts o cross join _qwf.event_numbers n
  where o.last_seq not between o.first_seq and n.last_seq
  union all
  select 'an alert keeps times only until it opens', 'alert ' || o.id, format('%s', o.recent)
  from qwf.open_alerts o
  where o.recent <> '{}' and (o.opened_at is not null or o.closed_at is not null)
  union all
  select 'a rule sends at most 20 messages in an hour', 'rule ' || a.name,
    format('%s messages', a.hour_messages)
  from qwf.alerts a where a.hour_messages > 20
  union all
  select 'an alert that only counts will close', 'alert ' || o.id, format('%s events', o.events)
  from qwf.open_alerts o where num_nonnulls(o.opened_at, o.closed_at, o.close_at) = 0
  union all
  select 'an open alert has told somebody or will', 'alert ' || o.id,
    format('opened at %s, last message %s', o.opened_at, o.sent_at)
  from qwf.open_alerts o
  where o.opened_at is not null and o.closed_at is null and o.send_at is null
    and (o.sent_at >= o.opened_at) is not true
  union all
  select 'what waits to be told is open, and was not told', 'alert ' || o.id,
    format('waits since %s, sent at %s, closed at %s', o.waits_since, o.sent_at, o.closed_at)
  from qwf.open_alerts o
  where o.waits_since is not null
    and (o.closed_at is not null or o.send_at is null or o.sent_at >= o.opened_at)
  union all
  select 'no message has counted more events than there are', 'alert ' || o.id,
    format('%s of %s', o.told, o.events)
  from qwf.open_alerts o where o.told > o.events
  union all
  select 'an alert has as many messages as it says', 'alert ' || o.id,
    format('%s messages, %s found', o.messages, count(m.id))
  from qwf.open_alerts o join qwf.alert_messages m on m.alert_id = o.id
  group by o.id
  having count(m.id) > o.messages
  union all
  select 'a message has a job or a run', 'message ' || m.id, m.state
  from qwf.alert_messages m where num_nonnulls(m.sent_job, m.sent_run) <> 1
$$;

commit;
