-- Deploy qwf:functions/alerts/_alert_kind
-- Purpose: Returns as what kind an event counts for rules; null: it opens nothing.
-- Guarantees: What fails in a job or run that an alert made counts as alert_failed, unless the
--   rule of that alert is itself about alert_failed: so no message leads to another one without
--   end.
-- Called by: _fold_events.

begin;

create function _qwf.alert_kind(p_event _qwf.event_log) returns text
language sql stable
as $$
  select case
    when (p_event.names ? 'alert') is not true then p_event.kind
    when (p_event.kind in ('job_failed', 'alert_failed')
      or p_event.detail ->> 'status' = 'failed') and not exists (
      select from qwf.alerts a
      where a.name = p_event.names ->> 'alert' and 'alert_failed' = any (a.kinds))
      then 'alert_failed' end
$$;

commit;
