-- Deploy qwf:functions/audit/_record_change
-- Purpose: Writes the event of a change, with the values that differ before and after it.
-- Guarantees: Writes nothing if nothing differs. Login and name are those of the session.
-- Called by: functions and triggers that change what an administrator has set.

begin;

create function _qwf.record_change(
  p_kind text, p_subject text, p_old jsonb, p_new jsonb, p_more jsonb default '{}')
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_difference jsonb := _qwf.difference(p_old, p_new);
begin
  if v_difference is not null then
    insert into _qwf.event_log (at, kind, subject, detail)
    values (qwf.now(), p_kind, p_subject, p_more || v_difference);
  end if;
end $$;

commit;
