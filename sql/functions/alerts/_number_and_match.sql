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
as $$
declare
  v_before bigint;
  v_count int;
  v_last bigint;
begin
  select n.last_seq into v_before from _qwf.event_numbers n for no key update skip locked;
  if not found then
    return 0;
  end if;
  v_count := _qwf.number_events();
  if v_count > 0 then
    select n.last_seq into v_last from _qwf.event_numbers n;
    perform _qwf.add_notify_rules(v_before, v_last);
    perform _qwf.try_rule(a, v_before, v_last) from qwf.alerts a order by a.name;
  end if;
  perform _qwf.try_rule(a)
  from qwf.alerts a
  where a.name in (select o.rule from qwf.open_alerts o where o.due_at <= qwf.now())
  order by a.name;
  return v_count;
end $$;

commit;
