-- Deploy qwf:functions/alerts/_try_rule
-- Purpose: Applies a rule to new events, if there are some, and sends what is due.
-- Guarantees: An error is undone, written to the rule, and stops nobody. What could not be sent is
--   tried again after a minute. An error that passes (a deadlock) undoes all of the tick's part,
--   which comes again.
-- Called by: _number_and_match.

begin;

create function _qwf.try_rule(
  p_rule qwf.alerts, p_groups _qwf.event_group[] default '{}')
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_detail text;
begin
  if cardinality(p_groups) > 0 then
    begin
      perform _qwf.apply_change(p_rule, c, v_now) from _qwf.fold_events(p_rule, p_groups) c;
      perform _qwf.end_questions(p_rule, p_groups, v_now);
    exception
      when others then
        get stacked diagnostics v_detail = pg_exception_detail;
        perform _qwf.record_alert_error(p_rule.name, sqlstate, sqlerrm, v_detail);
    end;
  end if;
  if exists (select from qwf.open_alerts o where o.rule = p_rule.name and o.due_at <= v_now) then
    begin
      perform _qwf.send_due(p_rule, v_now);
    exception
      when others then
        get stacked diagnostics v_detail = pg_exception_detail;
        perform _qwf.record_alert_error(p_rule.name, sqlstate, sqlerrm, v_detail);
        update qwf.open_alerts o set
          send_at = case when o.send_at <= v_now then v_now + interval '1 min' else o.send_at end,
          close_at = case when o.close_at <= v_now then v_now + interval '1 min' else o.close_at end
        where o.rule = p_rule.name and o.due_at <= v_now;
    end;
  end if;
end $$;

commit;
