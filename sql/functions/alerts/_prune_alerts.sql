-- Deploy qwf:functions/alerts/_prune_alerts
-- Purpose: Deletes closed alerts and messages that are older than settings.events_keep, and rules
--   of receivers that producers have named and that were told of nothing for two days.
-- Locks: as the rows are found; nobody else deletes them. Then the row of event_numbers: no tick is
--   about to tell such a receiver. While another transaction has it, no rule is deleted.
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
  v_rules int := 0;
begin
  delete from qwf.open_alerts o where o.id = any (array(
    select c.id from qwf.open_alerts c where c.closed_at < v_old limit p_max
    for update skip locked));
  get diagnostics v_alerts = row_count;
  delete from qwf.alert_messages m where m.id = any (array(
    select c.id from qwf.alert_messages c where c.created_at < v_old limit p_max
    for update skip locked));
  get diagnostics v_messages = row_count;
  perform from _qwf.event_numbers n for no key update skip locked;
  if found then
    delete from qwf.alerts a where a.name = any (array(
      select c.name from qwf.alerts c
      where c.notify is not null and c.hour_began < p_now - interval '2 days' and not exists (
        select from qwf.open_alerts o where o.rule = c.name and o.closed_at is null)
      limit p_max));
    get diagnostics v_rules = row_count;
  end if;
  return v_alerts + v_messages + v_rules;
end $$;

commit;
