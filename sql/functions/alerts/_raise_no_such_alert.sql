-- Deploy qwf:functions/alerts/_raise_no_such_alert
-- Purpose: Raises QW001 with the rule that was probably meant.
-- Raises: QW001, always.
-- Called by: set_alert, test_alert.

begin;

create function _qwf.raise_no_such_alert(p_name text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using errcode = 'QW001', message = 'no such alert',
    detail = format('alert %L', left(p_name, 200)),
    hint = coalesce(_qwf.did_you_mean(p_name, array(select a.name from qwf.alerts a)),
      'the rules are in table qwf.alerts');
end $$;

commit;
