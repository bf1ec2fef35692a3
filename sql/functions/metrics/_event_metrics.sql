-- Deploy qwf:functions/metrics/_event_metrics
-- Purpose: Returns what happened, and of what somebody hears: events by kind, how late they get
--   their numbers, open alerts, and messages that were not delivered.
-- Guarantees: Names 200 rules, those of administrators first, by name; the others are added up as
--   other.
--   Events count when tick() has learned from them, a moment after they get their numbers.
-- Called by: metrics_of.

begin;

create function _qwf.event_metrics() returns setof _qwf.metric
language sql stable
set jit = off
as $$
  select 'qwf_events_total', array['kind', t.kind], t.count, 'counter',
    'Events that have a number, by kind.'
  from (select) one
  left join _qwf.event_totals t on true
  union all
  select 'qwf_feed_lag_seconds', '{}', coalesce(date_part('epoch', qwf.now() - (
      select e.at from _qwf.event_log e where e.seq is null order by e.id limit 1)), 0), 'gauge',
    'Age of the oldest event without a number.'
  union all
  select 'qwf_alerts_open', array['rule', o.rule], o.alerts, 'gauge',
    'Alerts that are open, by rule.'
  from (select) one
  left join (
    select coalesce(n.name, 'other') as rule, count(c.rule) as alerts
    from qwf.alerts a
    left join (
      select x.name from qwf.alerts x order by x.notify is not null, x.name limit 200) n
      on n.name = a.name
    left join qwf.open_alerts c on c.rule = a.name and c.opened_at is not null
      and c.closed_at is null
    group by 1) o on true
  union all
  select 'qwf_alert_failures_total', '{}', coalesce(sum(t.failed_alerts), 0), 'counter',
    'Rules that could not be applied, and messages that were not delivered.'
  from _qwf.event_totals t
$$;

commit;
