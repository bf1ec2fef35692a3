-- Deploy qwf:functions/alerts/_alert_kind
-- Purpose: Returns as what kind an event counts for rules; null: it opens nothing.
-- Guarantees: What fails in a job or run that an alert made counts as alert_failed, unless the
--   rule of that alert is itself about alert_failed: so no message leads to another one without
--   end.
-- Called by: _group_events.

begin;

create function _qwf.alert_kind(p_kind text, p_alert text, p_status text) returns text
language sql stable
as $$
  select case
    when p_alert is null then p_kind
    when (p_kind in ('job_failed', 'alert_failed') or p_status = 'failed') and not exists (
      select from qwf.alerts a where a.name = p_alert and 'alert_failed' = any (a.kinds))
      then 'alert_failed' end
$$;

commit;
