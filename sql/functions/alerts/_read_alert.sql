-- Deploy qwf:functions/alerts/_read_alert
-- Purpose: Returns a rule with its defaults.
-- Guarantees: Durations are in seconds. Without a status, a rule on run_ended is about runs that
--   failed. Of questions, jobs count one by one, and an answer ends the alert at once.
-- Called by: set_alert, _number_and_match.

begin;

create function _qwf.read_alert(p_rule jsonb) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_rule jsonb := '{"where": {}, "by": "subject", "more_than": 0, "within": "1 h", "for": "0",
    "repeat": "6 h", "calm": "10 min", "send_resolved": true, "children": false}' || p_rule;
begin
  select v_rule || jsonb_object_agg(k, coalesce(
    round(ceil(extract(epoch from _qwf.as_interval(v_rule -> k)) * 1000) / 1000, 3), 0)) into v_rule
  from unnest('{within,for,repeat,calm}'::text[]) k;
  if v_rule -> 'when' ? 'run_ended' and not v_rule -> 'where' ? 'status' then
    v_rule := jsonb_set(v_rule, '{where,status}', '"failed"');
  end if;
  return v_rule;
end $$;

commit;
