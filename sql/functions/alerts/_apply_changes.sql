-- Deploy qwf:functions/alerts/_apply_changes
-- Purpose: Counts events in the alerts of their subjects: opens them, or lets them go on, or open
--   again.
-- Guarantees: One statement for all rules and subjects. Times count from now, not from the event:
--   what got its number late is told, too. An alert opens when more than more_than events have
--   happened within `within`. The first message is due after `for`. One that opens again less than
--   `repeat` after its last message is silent until then. If an alert is erased or pruned at the
--   same moment, a new one counts the events.
-- Locks: the alerts; the caller has locked the row of event_numbers.
-- Called by: _try_rules.

begin;

create function _qwf.apply_changes(p_changes _qwf.alert_change[], p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_material = off
set jit = off
as $$
begin
  with known as materialized (  -- offset 0: each by its key, whatever the statistics say
    select c.*, o.id, coalesce(o.alive, false) as alive, o.opened_at, o.events, o.told, o.send_at,
      o.sent_at, o.since, o.since_seq, case
        when c.more_than > 0 and (o.alive and o.opened_at is not null) is not true then array(
          select t from unnest(c.times || o.recent) t
          where t > c.last_bad - c.within order by t desc limit c.more_than + 1)
        else c.times end as recent
    from unnest(p_changes) c
    left join lateral (
      select a.id, a.closed_at is null as alive, a.opened_at, a.events, a.told, a.send_at,
        a.sent_at, a.recent, a.first_at as since, a.first_seq as since_seq
      from qwf.open_alerts a where a.rule = c.rule and a.key = c.key offset 0) o on true
    where c.bad > 0
  ), met as materialized (
    select k.*, s.opened, s.opens, s.opened or s.opens as open from known k
    cross join lateral (
      select k.alive and k.opened_at is not null as opened,
        not (k.alive and k.opened_at is not null) and cardinality(k.recent) > k.more_than as opens
    ) s
  ), counted as materialized (
    select m.id, m.rule, m.key, m.subject, m.kind, m.last_bad, m.last_seq, m.run_id, m.job_id,
      m.sent_at, case when m.open then '{}' else m.recent end as recent,
      case when m.opens then greatest(m.bad, cardinality(m.recent))
        when m.alive then m.events + m.bad else m.bad end as events,
      case when m.alive then m.told else 0 end as told,
      case when m.opened then m.opened_at when m.opens then p_now end as opened_at,
      case when m.alive then m.since else m.first_bad end as first_at,
      case when m.alive then m.since_seq else m.first_seq end as first_seq,
      case when m.opens then greatest(p_now + m.pause, m.sent_at + m.repeat)
        else m.send_at end as send_at,
      case when not m.open or not m.paired then p_now + m.within
        when m.good_last then p_now + m.calm end as close_at
    from met m
  ), updated as (
    update qwf.open_alerts o set
      subject = c.subject, kind = c.kind, opened_at = c.opened_at, recent = c.recent,
      events = c.events, told = c.told, first_at = c.first_at, last_at = c.last_bad,
      first_seq = c.first_seq, last_seq = c.last_seq, run_id = c.run_id, job_id = c.job_id,
      send_at = c.send_at, close_at = c.close_at, closed_at = null
    from counted c where o.id = c.id and o.rule = c.rule and o.key = c.key
    returning o.id
  )
  insert into qwf.open_alerts (rule, key, subject, kind, opened_at, recent, events, told, first_at,
    last_at, first_seq, last_seq, run_id, job_id, sent_at, send_at, close_at)
  select c.rule, c.key, c.subject, c.kind, c.opened_at, c.recent, c.events, c.told, c.first_at,
    c.last_bad, c.first_seq, c.last_seq, c.run_id, c.job_id, c.sent_at, c.send_at, c.close_at
  from counted c
  where c.id is null or c.id not in (select u.id from updated u);
end $$;

commit;
