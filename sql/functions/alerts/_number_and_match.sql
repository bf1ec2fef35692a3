-- Deploy qwf:functions/alerts/_number_and_match
-- Purpose: Gives numbers to the events that have none, and applies the rules of alerts to them,
--   in one transaction: each event meets each rule exactly once, and so does the job that a rule
--   makes.
-- Guarantees: Reads the last number under its lock, then numbers, then matches, each in a statement
--   of its own; all rules at once. Without a rule it is number_events() and a look at two indexes.
--   A rule that raises gets last_error, and the others go on. A receiver that a producer has named
--   gets a rule when something happens to such a job or run, which has the bounds of any rule;
--   prune() deletes it two days after its last message. Only events that name it look at it.
-- Locks: the row of event_numbers; while another transaction has it, it does nothing.
-- Notifies: qwf_events, and sleepers of the queues of what the rules enqueue.
-- Called by: _tick_part.

begin;

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

commit;
