-- Deploy qwf:functions/alerts/_record_alert_error
-- Purpose: Writes to a rule why it could not be applied, and an event alert_failed if it is another
--   reason than the last one.
-- Raises: an error that passes, again: then all that the tick has matched is undone and comes
--   again.
-- Called by: _try_rules.

begin;

create function _qwf.record_alert_error(p_rule text, p_state text, p_message text, p_detail text)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := qwf.now();
  v_error text := left(concat_ws(': ', p_state, p_message, nullif(p_detail, '')), 2000);
begin
  if _qwf.is_passing_error(p_state) then
    raise exception using errcode = p_state, message = p_message, detail = p_detail;
  end if;
  insert into _qwf.event_log (at, kind, subject, names, detail)
  select v_now, 'alert_failed', p_rule, jsonb_build_object('alert', p_rule),
    jsonb_build_object('error', left(v_error, 500))
  from qwf.alerts a where a.name = p_rule and a.last_error is distinct from v_error;
  update qwf.alerts a set last_error = v_error, last_error_at = v_now where a.name = p_rule;
end $$;

commit;
