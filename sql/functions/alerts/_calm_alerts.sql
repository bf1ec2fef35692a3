-- Deploy qwf:functions/alerts/_calm_alerts
-- Purpose: Lets open alerts close after the calm time of their rules, because a good end came and
--   nothing bad.
-- Guarantees: A later time never replaces an earlier one. A question has no calm time.
-- Called by: _try_rules.

begin;

create function _qwf.calm_alerts(p_changes _qwf.alert_change[], p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_material = off
set jit = off
as $$
begin
  update qwf.open_alerts o set close_at = least(o.close_at,
    p_now + case when o.kind = 'question_asked' then '0' else c.calm end)
  from unnest(p_changes) c
  where c.bad = 0 and o.rule = c.rule and o.key = c.key and o.opened_at is not null
    and o.closed_at is null;
end $$;

commit;
