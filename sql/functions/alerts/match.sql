-- New events numbered and matched with the alert rules. A tick does this. Locks: the row of
-- event_numbers, which it skips if another transaction has it.

create type _qwf.event_group as (
  kind text, counts_as text, names jsonb, subject text, status text, child boolean, labels jsonb,
  run_id bigint, job_id bigint, events bigint, first_at timestamptz, last_at timestamptz,
  first_seq bigint, last_seq bigint, times timestamptz[]);
comment on type _qwf.event_group is
  'New events that mean the same to a rule: what they have in common, how many there are, and '
  'when; run_id and job_id are those of the last one.';

create type _qwf.alert_terms as (
  rule text, kinds text[], ends text[], names jsonb, label jsonb, status text, by text,
  notify text, children boolean, more_than int, within interval, pause interval,
  repeat interval, calm interval);
comment on type _qwf.alert_terms is
  'A rule of alerts as columns. ends: kinds of events that end its alerts; pause: the time `for`.';

-- Numbers the events that have no number, and applies the alert rules to them, in one
-- transaction: each event meets each rule exactly once. Reads the last number under its lock,
-- then numbers, then matches, one statement each. A rule that raises gets last_error, and the
-- others go on. A receiver that a producer named gets a rule when something happens to that job
-- or run, bounded like any rule; prune() deletes it two days after its last message. Only events
-- that name it are checked against it.
-- Locks: the row of event_numbers; while another transaction has it, it does nothing.
-- Notifies: qwf_events, and sleepers of the queues of what the rules enqueue.
create function _qwf.number_and_match() returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_before bigint;
  v_count int;
  v_rules text[];
  v_receivers text[];
  v_groups _qwf.event_group[];
begin
  if not exists (  -- nothing to do is the usual case, and takes no lock
    select from _qwf.event_numbers n
    where (v_now between n.looked_at and n.looked_at + interval '10 s') is not true
      or n.timeline is distinct from left(pg_walfile_name(pg_current_wal_lsn()), 8)
      or exists (select from _qwf.event_log e where e.seq is null and e.id >= n.floor_id)
      or exists (select from qwf.open_alerts o where o.due_at <= v_now))
  then
    return 0;
  end if;
  select n.last_seq into v_before from _qwf.event_numbers n for no key update skip locked;
  if not found then
    return 0;
  end if;
  v_count := _qwf.number_events(  -- such a rule may open an alert for each event
    case when _qwf.alert_rules(true) = '{}' and not exists (
      select from qwf.alerts a where a.notify is not null) then 5000 else 1000 end);
  if v_count > 0 then
    v_groups := array(select g from _qwf.group_events(v_before, false) g);
    if cardinality(v_groups) > 0 then
      v_receivers := array(
        select distinct g.names ->> 'notify' from unnest(v_groups) g where g.names ? 'notify');
      insert into qwf.alerts as a (name, rule, kinds, notify, changed_at, hour_began)
      select 'qwf.notify.' || n.receiver,
        d.rule || jsonb_build_object('do', jsonb_build_object('receiver', n.receiver)),
        '{run_ended,job_failed,question_asked}', n.receiver, v_now, v_now
      from unnest(v_receivers) n (receiver)
      cross join (
        select _qwf.read_alert('{"when": ["run_ended", "job_failed", "question_asked"],
          "by": "event", "where": {"status": "any"}, "within": 1, "repeat": "0",
          "send_resolved": false}') as rule offset 0) d
      on conflict (name) do nothing;
      perform _qwf.try_rules(_qwf.alert_rules(false), v_groups, v_before);
      v_rules := _qwf.alert_rules(true, v_receivers);
      perform _qwf.try_rules(v_rules, array(select g from _qwf.group_events(v_before, true) g),
        v_before)
      where v_rules <> '{}';
    end if;
  end if;
  v_now := greatest(v_now, qwf.now());  -- what was found is due at once, without `for`
  v_rules := array(select distinct o.rule from qwf.open_alerts o where o.due_at <= v_now);
  perform _qwf.try_rules(v_rules) where v_rules <> '{}';
  return v_count;
end $$;

-- Lists the rules that look at each event by itself, or those that look at groups. A rule looks
-- at each event if the key or the match is in the event itself, not in its kind, names, subject
-- and status. Of the receivers that producers have named, it lists only the rules of
-- p_receivers: those that hear of nothing cost nothing.
create function _qwf.alert_rules(p_single boolean, p_receivers text[] default '{}')
returns text[]
language sql stable
as $$
  select array(
    select a.name from qwf.alerts a
    where a.notify is null and (a.rule ->> 'by' in ('event', 'run', 'job')
      or starts_with(a.rule ->> 'by', 'label.') or a.rule -> 'where' ? 'label') = p_single
    union all
    select 'qwf.notify.' || r from unnest(p_receivers) r
    order by 1)
$$;

-- Returns the events with a number above p_from in groups that mean the same to a rule. Events
-- of a group have the same kind, names, subject and status, and what was asked or given up the
-- same job; p_single: each event is a group, with its labels. Of a group, the last 1,001 times
-- are kept. Without a rule it reads only events whose producer has named a receiver. What fails
-- in a job or run that an alert made counts as alert_failed, unless the rule of that alert is
-- itself about alert_failed: so no message leads to another one without end. Null as kind of a
-- group: it opens nothing.
create function _qwf.group_events(p_from bigint, p_single boolean) returns setof _qwf.event_group
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
begin
  return query
  with heard as materialized (
    select e.seq, e.at, e.kind, e.names, e.subject, e.detail ->> 'status' as status,
      e.detail ? 'parent' as child, case
        when p_single then e.seq
        when e.kind in ('question_asked', 'question_answered', 'expired', 'cancelled')
          then coalesce(e.job_id, -e.run_id) end as one
    from _qwf.event_log e
    where e.seq > p_from and (e.names ? 'notify' or exists (select from qwf.alerts))
  ), grouped as materialized (
    select h.kind, h.names, h.subject, h.status, h.child, count(*) as events,
      min(h.at) as first_at, max(h.at) as last_at, min(h.seq) as first_seq, max(h.seq) as last_seq,
      array_agg(h.at) as times
    from heard h
    group by h.kind, h.names, h.subject, h.status, h.child, h.one
  )
  select g.kind, case
      when g.names ->> 'alert' is null then g.kind
      when (g.kind in ('job_failed', 'alert_failed') or g.status = 'failed') and not exists (
        select from qwf.alerts a
        where a.name = g.names ->> 'alert' and 'alert_failed' = any (a.kinds))
        then 'alert_failed' end,
    g.names, g.subject,
    g.status, g.child, l.labels, e.run_id, e.job_id, g.events, g.first_at, g.last_at, g.first_seq,
    g.last_seq, array(select t from unnest(g.times) t order by t desc limit 1001)
  from grouped g
  join _qwf.event_log e on e.seq = g.last_seq
  left join lateral (
    select coalesce((select r.labels from qwf.runs r where r.id = e.run_id),
      (select j.labels from qwf.jobs j where j.id = e.job_id)) as labels
    where p_single) l on true;
end $$;

-- Applies rules to new events, or, without groups of events, sends what is due of them. All
-- rules at once. If one raises, all is undone and each half of them is tried again, down to the
-- one that raises: its error is written to it, told if it is another than the last one, and
-- stops nobody. What could not be sent is tried again after a minute, and stays open until then.
-- An error that passes (a deadlock) undoes all of the tick's part, which comes again.
create function _qwf.try_rules(
  p_rules text[], p_groups _qwf.event_group[] default null, p_from bigint default null)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_many int := cardinality(p_rules);
  v_detail text;
  v_error text;
begin
  if p_groups is null then
    perform _qwf.send_due(p_rules, v_now);
    return;
  end if;
  perform _qwf.apply_changes(array(
    select (a.name, a.kinds,
      array(select unnest(k.ends) from _qwf.alert_kinds() k where k.kind = any (a.kinds)),
      w.match - '{status,label}'::text[], w.match -> 'label', w.match ->> 'status', w.by, a.notify,
      (a.rule -> 'children')::boolean,
      round((a.rule -> 'more_than')::numeric)::int,
      make_interval(secs => (a.rule ->> 'within')::float),
      make_interval(secs => (a.rule ->> 'for')::float),
      make_interval(secs => (a.rule ->> 'repeat')::float),
      make_interval(secs => (a.rule ->> 'calm')::float))::_qwf.alert_terms
    from qwf.alerts a
    cross join lateral (select a.rule -> 'where' as match, a.rule ->> 'by' as by) w
    where a.name = any (p_rules)), p_groups, v_now);
  perform _qwf.end_questions(p_rules, p_from, v_now);
exception
  when others then
    if _qwf.is_passing_error(sqlstate) then
      raise;
    elsif v_many > 1 then
      perform _qwf.try_rules(p_rules[:v_many / 2], p_groups, p_from);
      perform _qwf.try_rules(p_rules[v_many / 2 + 1:], p_groups, p_from);
      return;
    end if;
    get stacked diagnostics v_detail = pg_exception_detail;
    v_error := left(concat_ws(': ', sqlstate, sqlerrm, nullif(v_detail, '')), 2000);
    insert into _qwf.event_log (at, kind, subject, names, detail)
    select v_now, 'alert_failed', a.name, jsonb_build_object('alert', a.name),
      jsonb_build_object('error', left(v_error, 500))
    from qwf.alerts a where a.name = p_rules[1] and a.last_error is distinct from v_error;
    update qwf.alerts a set last_error = v_error, last_error_at = v_now where a.name = p_rules[1];
    update qwf.open_alerts o set
      waits_since = case when o.send_at <= v_now and (o.sent_at >= o.opened_at) is not true
        then coalesce(o.waits_since, v_now) else o.waits_since end,
      send_at = case when o.send_at <= v_now then v_now + interval '1 min' else o.send_at end,
      close_at = case when o.close_at <= v_now then v_now + interval '1 min' else o.close_at end
    where p_groups is null and o.rule = p_rules[1] and o.due_at <= v_now;
end $$;
