-- Deploy qwf:functions/alerts/_apply_changes
-- Purpose: Counts events in the alerts of their subjects: opens them, or lets them go on, or open
--   again; after a good end and nothing bad, an alert closes when its calm time is over.
-- Guarantees: One statement for all rules and subjects, which finds each alert once, by rule and
--   key: with "=" and "closed_at is null", statistics of a table that was empty made it read all
--   alerts for each change. Times count from now, not from the event: what got its number late is
--   told, too. An alert opens when more than more_than events have happened within `within`. The
--   first message is due after `for`. One that opens again less than `repeat` after its last
--   message is silent until then. If an alert is erased or pruned at the same moment, a new one
--   counts the events. A good end never puts off a close; a question has no calm time.
-- Locks: the alerts; the caller has locked the row of event_numbers.
-- Called by: _try_rules.

begin;

create function _qwf.apply_changes(
  p_terms _qwf.alert_terms[], p_groups _qwf.event_group[], p_now timestamptz)
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
  with change as materialized (
    select * from _qwf.fold_events(p_terms, p_groups) with ordinality f (
      rule, key, subject, kind, bad, good_last, first_bad, last_bad, first_seq, last_seq, run_id,
      job_id, times, paired, more_than, within, pause, repeat, calm, place)
  ), calmed as (
    update qwf.open_alerts o set close_at = least(o.close_at,
      p_now + case when o.kind = 'question_asked' then '0' else c.calm end)
    from change c
    where c.bad = 0 and o.rule = any (array[c.rule]) and o.key = any (array[c.key])
      and num_nulls(o.opened_at, o.closed_at) = 1 and o.opened_at is not null
  ), updated as (
    update qwf.open_alerts o set
      subject = c.subject, kind = c.kind, last_at = c.last_bad, last_seq = c.last_seq,
      run_id = c.run_id, job_id = c.job_id, closed_at = null,
      (opened_at, recent, events, told, first_at, first_seq, send_at, close_at) = (
        select case when s.opens then p_now when m.opened then o.opened_at end,
          case when s.opens or m.opened then '{}' else m.recent end,
          case when s.opens then greatest(c.bad, cardinality(m.recent))
            when m.alive then o.events + c.bad else c.bad end,
          case when m.alive then o.told else 0 end,
          case when m.alive then o.first_at else c.first_bad end,
          case when m.alive then o.first_seq else c.first_seq end,
          case when s.opens then greatest(p_now + c.pause, o.sent_at + c.repeat)
            else o.send_at end,
          case when not (s.opens or m.opened) or not c.paired then p_now + c.within
            when c.good_last then p_now + c.calm end
        from (
          select a.alive, a.opened, case when c.more_than > 0 and not a.opened then array(
            select t from unnest(c.times || o.recent) t
            where t > c.last_bad - c.within order by t desc limit c.more_than + 1) end as recent
          from (select o.closed_at is null as alive,
            o.closed_at is null and o.opened_at is not null as opened) a) m
        cross join lateral (select not m.opened
          and (c.more_than = 0 or cardinality(m.recent) > c.more_than) as opens) s)
    from change c
    where c.bad > 0 and o.rule = any (array[c.rule]) and o.key = any (array[c.key])
    returning c.place
  )
  insert into qwf.open_alerts (rule, key, subject, kind, opened_at, recent, events, first_at,
    last_at, first_seq, last_seq, run_id, job_id, send_at, close_at)
  select c.rule, c.key, c.subject, c.kind, case when s.opens then p_now end,
    case when s.opens then '{}' else m.recent end,
    case when s.opens then greatest(c.bad, cardinality(m.recent)) else c.bad end,
    c.first_bad, c.last_bad, c.first_seq, c.last_seq, c.run_id, c.job_id,
    case when s.opens then p_now + c.pause end,
    case when not s.opens or not c.paired then p_now + c.within
      when c.good_last then p_now + c.calm end
  from change c
  cross join lateral (select case when c.more_than > 0 then array(
    select t from unnest(c.times) t
    where t > c.last_bad - c.within order by t desc limit c.more_than + 1) end as recent) m
  cross join lateral (
    select c.more_than = 0 or cardinality(m.recent) > c.more_than as opens) s
  where c.bad > 0 and c.place not in (select u.place from updated u)
  order by c.rule collate "C", c.last_seq;
end $$;

commit;
