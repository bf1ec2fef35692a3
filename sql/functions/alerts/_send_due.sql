-- Deploy qwf:functions/alerts/_send_due
-- Purpose: Closes the alerts of a rule that are over, and sends the messages that are due.
-- Guarantees: What opened and closed before its message was due sends none. At most 20 messages of
--   a rule open or repeat within an hour; then one of state storm says how many subjects are left,
--   and they wait until the hour is over.
-- Notifies: sleepers of the queue of the messages.
-- Raises: what the action raises.
-- Called by: _try_rule.

begin;

create function _qwf.send_due(p_rule qwf.alerts, p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_most constant int := 20;
  v_repeat interval := make_interval(secs => (p_rule.rule ->> 'repeat')::float);
  v_rule qwf.alerts;
  v_left bigint;
  v_alert qwf.open_alerts;
begin
  perform _qwf.close_due(p_rule, p_now);
  update qwf.alerts a set hour_began = p_now, hour_messages = 0, storm_at = null
  where a.name = p_rule.name
    and (p_now between a.hour_began and a.hour_began + interval '1 h') is not true;
  select a.* into v_rule from qwf.alerts a where a.name = p_rule.name;
  for v_alert in
    select o.* from qwf.open_alerts o
    where o.rule = p_rule.name and o.send_at <= p_now
    order by o.send_at, o.id
    limit greatest(v_most - v_rule.hour_messages, 0)
  loop
    perform _qwf.send_message(v_rule, v_alert, case
      when v_alert.sent_at >= v_alert.opened_at then 'still' else 'open' end, v_alert.events);
    update qwf.open_alerts o set
      messages = o.messages + 1, sent_at = p_now, told = o.events,
      send_at = case when v_repeat > '0' then p_now + v_repeat end
    where o.id = v_alert.id;
    v_rule.hour_messages := v_rule.hour_messages + 1;
  end loop;
  select count(*) into v_left
  from qwf.open_alerts o where o.rule = p_rule.name and o.send_at <= p_now;
  if v_left > 0 then
    perform _qwf.send_message(v_rule, null, 'storm', v_left) where v_rule.storm_at is null;
    v_rule.storm_at := coalesce(v_rule.storm_at, p_now);
    update qwf.open_alerts o set send_at = v_rule.hour_began + interval '1 h'
    where o.rule = p_rule.name and o.send_at <= p_now;
  end if;
  update qwf.alerts a set
    hour_messages = v_rule.hour_messages, storm_at = v_rule.storm_at
  where a.name = p_rule.name;
end $$;

commit;
