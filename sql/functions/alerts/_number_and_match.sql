-- Deploy qwf:functions/alerts/_number_and_match
-- Purpose: Gives numbers to the events that have none, and applies the rules of alerts to them,
--   in one transaction: each event meets each rule exactly once, and so does the job that a rule
--   makes.
-- Guarantees: Reads the last number under its lock, then numbers, then matches, each in a statement
--   of its own. Without a rule it is number_events() and a look at two indexes. A rule that raises
--   gets last_error, and the others go on.
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
  v_groups _qwf.event_group[];
begin
  select n.last_seq into v_before from _qwf.event_numbers n for no key update skip locked;
  if not found then
    return 0;
  end if;
  v_count := _qwf.number_events(  -- a rule looks at each event: fewer in one transaction
    case when exists (select from qwf.alerts) then 1000 else 5000 end);
  if v_count > 0 then
    v_groups := array(
      select (e.kind, e.names, array_agg(e.seq))::_qwf.event_group
      from _qwf.event_log e
      where e.seq > v_before and (e.names ? 'notify' or exists (select from qwf.alerts))
      group by e.kind, e.names);
    perform _qwf.add_notify_rules(v_groups);
    perform _qwf.try_rule(a, v_groups) from qwf.alerts a order by a.name;
  end if;
  perform _qwf.try_rule(a)
  from qwf.alerts a
  where a.name in (select o.rule from qwf.open_alerts o where o.due_at <= v_now)
  order by a.name;
  return v_count;
end $$;

commit;
