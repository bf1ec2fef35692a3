-- Deploy qwf:functions/alerts/_apply_change
-- Purpose: Counts events in the alert of their subject: opens it, or lets it go on, calm down or
--   open again.
-- Guarantees: Times count from now, not from the event: what got its number late is told, too.
--   It opens when more than more_than events have happened within `within`. The first
--   message is due after `for`. One that opens again less than `repeat` after its last message is
--   silent until then. A good end closes it after `calm`, unless something bad comes before.
-- Locks: the caller has locked the row of event_numbers; nobody else writes alerts.
-- Called by: _try_rule.

begin;

create function _qwf.apply_change(
  p_rule qwf.alerts, p_change _qwf.alert_change, p_now timestamptz)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  c constant _qwf.alert_change := p_change;
  v_within interval := make_interval(secs => (p_rule.rule ->> 'within')::float);
  v_repeat interval := make_interval(secs => (p_rule.rule ->> 'repeat')::float);
  v_calm interval := case when c.kind = 'question_asked' then '0'
    else make_interval(secs => (p_rule.rule ->> 'calm')::float) end;
  v_more_than int := p_rule.rule -> 'more_than';
  v_paired boolean := case c.kind
    when 'run_ended' then p_rule.rule #>> '{where,status}' = 'failed'
    else exists (select from _qwf.alert_kinds() k where k.kind = c.kind and k.ends <> '{}') end;
  v_alert qwf.open_alerts;
  v_recent timestamptz[];
  v_opens boolean;
begin
  select o.* into v_alert from qwf.open_alerts o where o.rule = p_rule.name and o.key = c.key;
  if c.bad = 0 then
    update qwf.open_alerts o set close_at = least(o.close_at,
      p_now + case when o.kind = 'question_asked' then '0' else v_calm end)
    where o.id = v_alert.id and o.opened_at is not null and o.closed_at is null;
    return;
  end if;
  v_recent := array(
    select t from unnest(c.times || case when v_alert.opened_at is null or v_alert.closed_at
      is not null then v_alert.recent end) t
    where t > c.last_bad - v_within order by t desc limit v_more_than + 1);
  v_opens := (v_alert.opened_at is null or v_alert.closed_at is not null)
    and cardinality(v_recent) > v_more_than;
  insert into qwf.open_alerts as o (
    rule, key, subject, kind, first_at, last_at, first_seq, last_seq, run_id, job_id)
  values (p_rule.name, c.key, c.subject, c.kind, c.first_bad, c.last_bad, c.first_seq, c.last_seq,
    c.run_id, c.job_id)
  on conflict (rule, key) do update set
    subject = excluded.subject, kind = excluded.kind, last_at = excluded.last_at,
    last_seq = excluded.last_seq, run_id = excluded.run_id, job_id = excluded.job_id,
    first_at = case when o.closed_at is null then o.first_at else excluded.first_at end,
    first_seq = case when o.closed_at is null then o.first_seq else excluded.first_seq end,
    opened_at = case when o.closed_at is null then o.opened_at end,
    events = case when o.closed_at is null then o.events else 0 end,
    told = case when o.closed_at is null then o.told else 0 end, closed_at = null
  returning o.* into v_alert;
  update qwf.open_alerts o set
    recent = case when v_opens or o.opened_at is not null then '{}' else v_recent end,
    events = case when v_opens then greatest(c.bad, cardinality(v_recent))
      else o.events + c.bad end,
    opened_at = coalesce(o.opened_at, case when v_opens then p_now end),
    send_at = case when not v_opens then o.send_at else greatest(
      p_now + make_interval(secs => (p_rule.rule ->> 'for')::float), o.sent_at + v_repeat) end,
    close_at = case when o.opened_at is null and not v_opens or not v_paired
        then p_now + v_within
      when c.good_last then p_now + v_calm end
  where o.id = v_alert.id;
end $$;

commit;
