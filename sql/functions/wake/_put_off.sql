-- Deploy qwf:functions/wake/_put_off
-- Purpose: Puts off wake-ups for a queue if this transaction claims from it next: adds them to
--   those that finish_and_claim makes afterwards. Else it would wake sleepers for the very jobs
--   that it takes itself.
-- Guarantees: False if nothing is put off. The setting names this transaction, so a value that
--   somebody else left in the session counts for nothing.
-- Called by: _wake.

begin;

create function _qwf.put_off(p_queue text, p_count int) returns boolean
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_setting text[] := regexp_match(
    current_setting('qwf.put_off', true), '^([0-9]+) ([0-9]{1,6}) (.*)$');
begin
  if v_setting[1] = pg_current_xact_id_if_assigned()::text and v_setting[3] = p_queue then
    perform set_config('qwf.put_off',
      format('%s %s %s', v_setting[1], v_setting[2]::int + p_count, p_queue), true);
    return true;
  end if;
  return false;
end $$;

commit;
