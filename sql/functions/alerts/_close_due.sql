-- Deploy qwf:functions/alerts/_close_due
-- Purpose: Closes the alerts of rules that are over, and says so of those of which a message went
--   out.
-- Guarantees: An alert that only counted, and never opened, closes in silence. So does one that was
--   over before its first message was due, and a question; any other waits until somebody is told.
--   There are as many messages as opened: they need no bound of their own.
-- Raises: what the action raises.
-- Called by: _send_due.

begin;

create function _qwf.close_due(p_rules text[], p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_over _qwf.due_message[];
begin
  v_over := array(
    select (o.rule, o.id, 'resolved', o.events)::_qwf.due_message
    from qwf.open_alerts o join qwf.alerts a on a.name = o.rule
    where o.due_at <= p_now and o.close_at <= p_now and o.rule = any (p_rules)
      and o.sent_at >= o.opened_at and (a.rule -> 'send_resolved')::boolean
    order by o.rule, o.close_at, o.id);
  perform _qwf.send_messages(v_over);
  update qwf.open_alerts o set messages = o.messages + 1
  where o.id = any (array(select m.alert_id from unnest(v_over) m));
  update qwf.open_alerts o set closed_at = p_now, close_at = null, send_at = null, recent = '{}',
    waits_since = null
  where o.due_at <= p_now and o.close_at <= p_now and o.rule = any (p_rules)
    and (o.opened_at is null or o.sent_at >= o.opened_at or o.kind = 'question_asked'
      or o.waits_since is null and (o.send_at < o.close_at) is not true);
end $$;

commit;
