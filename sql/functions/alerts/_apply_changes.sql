-- Deploy qwf:functions/alerts/_apply_changes
-- Purpose: Counts events in the alerts of their subjects: opens them, or lets them go on, or open
--   again; after a good end and nothing bad, an alert closes when its calm time is over.
-- Guarantees: One statement for all rules and subjects, which finds each alert once, by rule and
--   key: with "=" and "closed_at is null", statistics of a table that was empty made it read all
--   alerts for each change. Times count from now, not from the event: what got its number late
--   is told, too. An alert opens when more than more_than events have happened within `within`.
--   The first message is due after `for`. One that opens again less than `repeat` after its last
--   message is silent until then, unless it is a question. If an alert is erased or pruned at
--   the same moment, a new one counts the events. A good end never puts off a close; a question
--   has no calm time.
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
  ), counted as (
    update qwf.open_alerts o set
      subject = c.subject, kind = c.kind, last_at = c.last_bad, last_seq = c.last_seq,
      run_id = c.run_id, job_id = c.job_id, events = o.events + c.bad,
      close_at = case when not c.paired then p_now + c.within
        when c.good_last then p_now + c.calm end
    from change c
    where c.bad > 0 and o.rule = any (array[c.rule]) and o.key = any (array[c.key])
      and num_nulls(o.opened_at, o.closed_at) = 1 and o.opened_at is not null
    returning c.place
  ), updated as (  -- closed ones, and those of which too few events have happened
    update qwf.open_alerts o set
      subject = c.subject, kind = c.kind, last_at = c.last_bad, last_seq = c.last_seq,
      run_id = c.run_id, job_id = c.job_id, closed_at = null,
      (opened_at, recent, events, told, first_at, first_seq, send_at, close_at) = (
        select case when n.opens then p_now end, case when n.opens then '{}' else n.recent end,
          case when n.opens then greatest(c.bad, cardinality(n.recent))
            when o.closed_at is null then o.events + c.bad else c.bad end,
          case when o.closed_at is null then o.told else 0 end,
          case when o.closed_at is null then o.first_at else c.first_bad end,
          case when o.closed_at is null then o.first_seq else c.first_seq end,
          case when n.opens then greatest(p_now + c.pause,
              case when c.kind <> 'question_asked' then o.sent_at + c.repeat end)
            else o.send_at end,
          case when not n.opens or not c.paired then p_now + c.within
            when c.good_last then p_now + c.calm end
        from _qwf.newest_times(c.times || o.recent, c.last_bad - c.within, c.more_than) n)
    from change c
    where c.bad > 0 and o.rule = any (array[c.rule]) and o.key = any (array[c.key])
      and c.place not in (select o.place from counted o)
    returning c.place
  )
  insert into qwf.open_alerts (rule, key, subject, kind, opened_at, recent, events, first_at,
    last_at, first_seq, last_seq, run_id, job_id, send_at, close_at)
  select c.rule, c.key, c.subject, c.kind, case when n.opens then p_now end,
    case when n.opens then '{}' else n.recent end,
    case when n.opens then greatest(c.bad, cardinality(n.recent)) else c.bad end,
    c.first_bad, c.last_bad, c.first_seq, c.last_seq, c.run_id, c.job_id,
    case when n.opens then p_now + c.pause end,
    case when not n.opens or not c.paired then p_now + c.within
      when c.good_last then p_now + c.calm end
  from change c
  cross join lateral _qwf.newest_times(c.times, c.last_bad - c.within, c.more_than) n
  where c.bad > 0 and c.place not in (
    select o.place from counted o union all select u.place from updated u)
  order by c.rule collate "C", c.last_seq;
end $$;

commit;
