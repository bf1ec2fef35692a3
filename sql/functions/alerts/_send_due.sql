-- Deploy qwf:functions/alerts/_send_due
-- Purpose: Closes the alerts of rules that are over, and sends the messages that are due.
-- Guarantees: What was over before its first message was due sends none. At most 20 messages of
--   a rule open or repeat within an hour; then one of state storm says how many subjects are
--   left, and they wait until the hour is over. What does not fit into the next hour either, and
--   is over, closes when the storm of that hour has counted it: else each hour would tell of
--   older things. Where no good end comes, `within` counts from the first message.
-- Notifies: sleepers of the queue of the messages.
-- Raises: what the action raises.
-- Called by: _try_rules.

begin;

create function _qwf.send_due(p_rules text[], p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_most constant int := 20;
  v_sent _qwf.due_message[];
  v_storms _qwf.due_message[];
  v_counted text[];
begin
  perform _qwf.close_due(p_rules, p_now);
  update qwf.alerts a set hour_began = p_now, hour_messages = 0, storm_at = null
  where a.name = any (p_rules)
    and (p_now between a.hour_began and a.hour_began + interval '1 h') is not true;
  v_sent := array(
    select (d.rule, d.id, d.state, d.events)::_qwf.due_message
    from (
      select o.rule, o.id, o.events, o.send_at, v_most - a.hour_messages as room,
        case when o.sent_at >= o.opened_at then 'still' else 'open' end as state,
        row_number() over (
          partition by o.rule order by coalesce(o.waits_since, o.send_at), o.id) as place
      from qwf.open_alerts o join qwf.alerts a on a.name = o.rule
      where o.due_at <= p_now and o.send_at <= p_now and o.rule = any (p_rules)) d
    where d.place <= d.room
    order by d.rule, d.place);
  perform _qwf.send_messages(v_sent);
  update qwf.open_alerts o set messages = o.messages + 1, sent_at = p_now, told = o.events,
    waits_since = null, send_at = case when a.rule ->> 'repeat' <> '0'
      then p_now + make_interval(secs => (a.rule ->> 'repeat')::float) end,
    close_at = case
      when m.state = 'still' or exists (
        select from _qwf.alert_kinds() k
        where k.kind = o.kind and k.ends <> '{}'
          and (k.kind <> 'run_ended' or a.rule #>> '{where,status}' = 'failed')) then o.close_at
      else greatest(o.close_at, p_now + make_interval(secs => (a.rule ->> 'within')::float)) end
  from unnest(v_sent) m join qwf.alerts a on a.name = m.rule
  where o.id = m.alert_id;
  with put_off as (
    update qwf.open_alerts o set send_at = a.hour_began + interval '1 h',
      waits_since = case when (o.sent_at >= o.opened_at) is not true
        then coalesce(o.waits_since, p_now) end
    from qwf.alerts a
    where a.name = o.rule and o.due_at <= p_now and o.send_at <= p_now and o.rule = any (p_rules)
    returning o.rule
  )
  select array_agg((l.rule, null, 'storm', l.number)::_qwf.due_message order by l.rule)
  into v_storms
  from (select p.rule, count(*) as number from put_off p group by p.rule) l;
  v_counted := array(
    select m.rule from _qwf.send_messages(array(
      select s from unnest(v_storms) s join qwf.alerts a on a.name = s.rule
      where a.storm_at is null order by s.rule)) m);
  update qwf.open_alerts o
  set closed_at = p_now, close_at = null, send_at = null, waits_since = null
  from qwf.alerts a where a.name = any (v_counted) and o.rule = a.name and o.closed_at is null
    and o.waits_since < a.hour_began and o.close_at <= p_now;
  update qwf.alerts a set hour_messages = a.hour_messages + s.number,
    storm_at = coalesce(a.storm_at, case when a.name = any (array(
      select m.rule from unnest(v_storms) m)) then p_now end)
  from (select r.name, count(m) as number
    from unnest(p_rules) r (name) left join unnest(v_sent) m on m.rule = r.name group by r.name) s
  where a.name = s.name;
end $$;

commit;
