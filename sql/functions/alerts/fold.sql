-- Open alerts changed by the events that a rule matched. Locks: the alerts; the caller has
-- locked the row of event_numbers.

create type _qwf.alert_change as (
  rule text, key text, subject text, kind text, bad bigint, good_last boolean,
  first_bad timestamptz, last_bad timestamptz, first_seq bigint, last_seq bigint, run_id bigint,
  job_id bigint, times timestamptz[], paired boolean, more_than int, within interval,
  pause interval, repeat interval, calm interval);
comment on type _qwf.alert_change is
  'Meaning of new events to a rule, of one subject: how many are bad, when, and whether a good '
  'end came last; paired: a good end may come. Then the terms of the rule.';

-- Counts events in the alerts of their subjects: opens alerts, keeps them open, or reopens them;
-- after a good end and nothing bad, an alert closes when its calm time is over. Finds each alert
-- once, by rule and key: with "=" and "closed_at is null", statistics of a table that was empty
-- made it read all alerts. Times count from now, not from the event, so that late numbers count,
-- too. An alert that reopens less than `repeat` after its last message is silent until then,
-- unless it is a question. If an alert is erased or pruned at the same moment, a new one counts
-- the events.
-- Locks: the alerts; the caller has locked the row of event_numbers.
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

-- Returns what groups of new events mean to rules: a row for each rule and key, with the bad
-- ones counted, and whether a good end came last. Events of jobs and runs that an alert made
-- count only for rules on alert_failed, and those of such a rule's own jobs for none. One
-- statement for all rules: each looks at a group once, however many events it has. Its plan does
-- not depend on the settings of its caller.
create function _qwf.fold_events(p_terms _qwf.alert_terms[], p_groups _qwf.event_group[])
returns setof _qwf.alert_change
language plpgsql stable
rows 5000
set search_path = pg_catalog, pg_temp
set enable_hashjoin = on
set enable_nestloop = off
set enable_mergejoin = off
set enable_sort = off
set work_mem = '64MB'
set jit = off
as $$
declare
  v_paired text[] := array(select k.kind from _qwf.alert_kinds() k where k.ends <> '{}');
begin
  return query
  with term as materialized (
    select * from unnest(p_terms) with ordinality t (
      rule, kinds, ends, names, label, status, by, notify, children, more_than, within, pause,
      repeat, calm, place)
  ), happened as materialized (  -- named: the place of the rule of the receiver that it names
    select g.*, n.place as named
    from unnest(p_groups) g left join term n on n.notify = g.names ->> 'notify'
  ), applied as (  -- the rules of such receivers are the same, so one stands for all
    select * from term t where t.notify is null
    union all
    (select * from term t where t.notify is not null limit 1)
  ), pair as materialized (
    select case when t.notify is null then t.place else h.named end as place, b.bad,
      b.bad and t.more_than > 0 as many, h.events, h.first_seq, h.last_seq, h.first_at, h.last_at,
      _qwf.alert_key(t.by, h.counts_as, b.bad, h.kind, h.last_seq, h.run_id,
        h.job_id, h.subject, h.names, h.labels) as key
    from applied t cross join happened h
    cross join lateral (
      select coalesce(h.counts_as = any (t.kinds) and (h.counts_as <> 'run_ended'
        or t.status in ('any', h.status)), false) as bad offset 0) b  -- 0: works it out once
    where (b.bad or h.kind = any (t.ends) and (h.kind <> 'run_ended'
        or t.status = 'failed' and h.status = 'completed'))
      and (t.names = '{}' or h.names @> t.names)
      and (t.label is null or h.labels @> t.label)
      and (t.notify is null or h.named is not null)
      and (t.children or not h.child)
  ), folded as materialized (
    select p.place, p.key, max(p.last_seq) as last,
      coalesce(sum(p.events::int) filter (where p.bad), 0) as bad,
      min(p.first_seq) filter (where p.bad) as first_bad,
      max(p.last_seq) filter (where p.bad) as last_bad,
      min(p.first_at) filter (where p.bad) as first_at,
      max(p.last_at) filter (where p.bad) as last_at,
      array_agg(p.last_seq) filter (where p.many) as parts
    from pair p group by p.place, p.key
  ), timed as (  -- only rules with more_than ask when each event was
    select f.place, f.key, array_agg(t) as times
    from folded f cross join lateral unnest(f.parts) s (seq)
    join happened h on h.last_seq = s.seq cross join lateral unnest(h.times) t
    group by f.place, f.key
  )
  select r.rule, f.key,
    coalesce(case when r.by in ('subject', 'run', 'job', 'event')
      and h.counts_as <> 'alert_failed' then h.subject end, f.key),
    h.counts_as, f.bad, f.last > coalesce(f.last_bad, 0), f.first_at, f.last_at, f.first_bad,
    f.last_bad, h.run_id, h.job_id, t.times,
    case when h.counts_as = 'run_ended' then r.status = 'failed'
      else h.counts_as = any (v_paired) end,
    r.more_than, r.within, r.pause, r.repeat,
    case when h.counts_as = 'question_asked' then '0' else r.calm end
  from folded f
  join term r on r.place = f.place
  left join happened h on h.last_seq = f.last_bad
  left join timed t on t.place = f.place and t.key = f.key;
end $$;

-- Returns which events of a rule are one alert: those with the same key. A queue, a schedule, a
-- host, a workflow and a task of one name are five alerts: what ends one ends no other. A
-- question is always one by itself, and what ends it has the same key. An event without a job
-- and a run counts by its subject where others count by those. Of a label, the first 500
-- characters count: an index takes no more than 2,700 bytes.
create function _qwf.alert_key(
  p_by text, p_counts_as text, p_bad boolean, p_kind text, p_seq bigint, p_run bigint, p_job bigint,
  p_subject text, p_names jsonb, p_labels jsonb)
returns text
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select case
    when p_by in ('event', 'job', 'subject') and (starts_with(p_kind, 'question')
        or not p_bad and p_kind in ('expired', 'cancelled'))
      then coalesce('job ' || p_job, 'run ' || p_run, p_subject, '')
    when p_by = 'event' then p_seq::text
    when p_by = 'rule' then ''
    when starts_with(p_by, 'label.') then coalesce(left(p_labels ->> substr(p_by, 7), 500), '')
    when p_by = 'run' and p_run is not null then 'run ' || p_run
    when p_counts_as = 'alert_failed' then coalesce(p_names ->> 'alert', '')
    when p_by = 'job' then coalesce('job ' || p_job, 'run ' || p_run, p_subject, '')
    when p_by in ('subject', 'run') then coalesce(case
        when p_job is not null then 'task '
        when p_run is not null or p_kind = 'overdue' then 'workflow '
        when starts_with(p_kind, 'queue') then 'queue '
        when starts_with(p_kind, 'schedule') then 'schedule '
        when starts_with(p_kind, 'worker') or starts_with(p_kind, 'server')
          or starts_with(p_kind, 'host') then 'host '
        else '' end || p_subject, '')
    else coalesce(p_names ->> p_by, '') end
$$;

-- Returns which of these times count for an alert that is not open, and whether it opens: when
-- more than p_more_than of them are later than p_since. Keeps as many as decide it, the newest.
create function _qwf.newest_times(p_times timestamptz[], p_since timestamptz, p_more_than int)
returns table (recent timestamptz[], opens boolean)
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select n.recent, p_more_than = 0 or cardinality(n.recent) > p_more_than
  from (
    select case when p_more_than > 0 then array(
      select t from unnest(p_times) t
      where t > p_since order by t desc limit p_more_than + 1) end as recent) n
$$;

-- Closes the alerts about questions of runs that have ended since the event p_from.
create function _qwf.end_questions(p_rules text[], p_from bigint, p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_material = off
set jit = off
as $$
begin
  if exists (
    select from qwf.alerts a where a.name = any (p_rules) and 'question_asked' = any (a.kinds))
  then
    update qwf.open_alerts o set close_at = p_now
    from (
      select e.run_id, max(e.seq) as seq from _qwf.event_log e
      where e.seq > p_from and e.kind = 'run_ended' group by e.run_id) e
    where o.asked_run = e.run_id and e.seq > o.last_seq
      and o.closed_at is null and o.rule = any (p_rules);
  end if;
end $$;
