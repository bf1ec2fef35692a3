-- Deploy qwf:functions/alerts/_prune_alerts
-- Purpose: Deletes closed alerts and messages that are older than settings.events_keep, and rules
--   of producers of which no alert is left.
-- Locks: as the rows are found; nobody else deletes them.
-- Called by: prune.

begin;

create function _qwf.prune_alerts(p_now timestamptz, p_max int) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  v_old timestamptz := p_now - (select s.events_keep from qwf.settings s);
  v_alerts int;
  v_messages int;
begin
  delete from qwf.open_alerts o where o.id = any (array(
    select c.id from qwf.open_alerts c where c.closed_at < v_old limit p_max
    for update skip locked));
  get diagnostics v_alerts = row_count;
  delete from qwf.alert_messages m where m.id = any (array(
    select c.id from qwf.alert_messages c where c.created_at < v_old limit p_max
    for update skip locked));
  get diagnostics v_messages = row_count;
  delete from qwf.alerts a
  where a.notify is not null and a.changed_at < v_old
    and not exists (select from qwf.open_alerts o where o.rule = a.name);
  return v_alerts + v_messages;
end $$;

commit;
