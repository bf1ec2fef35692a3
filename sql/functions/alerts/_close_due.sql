-- Deploy qwf:functions/alerts/_close_due
-- Purpose: Closes the alerts of a rule that are over, and says so of those of which a message went
--   out.
-- Guarantees: An alert that only counted, and never opened, closes in silence. There are as many
--   messages as opened: they need no bound of their own.
-- Raises: what the action raises.
-- Called by: _send_due.

begin;

create function _qwf.close_due(p_rule qwf.alerts, p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_alert qwf.open_alerts;
begin
  for v_alert in
    select o.* from qwf.open_alerts o
    where o.rule = p_rule.name and o.close_at <= p_now and o.sent_at >= o.opened_at
      and (p_rule.rule -> 'send_resolved')::boolean
    order by o.close_at, o.id
  loop
    perform _qwf.send_message(p_rule, v_alert, 'resolved', v_alert.events);
    update qwf.open_alerts o set messages = o.messages + 1 where o.id = v_alert.id;
  end loop;
  update qwf.open_alerts o set closed_at = p_now, close_at = null, send_at = null, recent = '{}'
  where o.rule = p_rule.name and o.close_at <= p_now;
end $$;

commit;
