-- Deploy qwf:functions/wake/_wake_for_openings
-- Purpose: Wakes sleepers for keys whose rate has allowed a start between two times.
-- Guarantees: Looks at 16 such keys. It does not look whether jobs of these keys wait: a sleeper of
--   each queue with a line may look in vain.
-- Notifies: as many sleepers of each such queue as there are keys.
-- Called by: _wake_for_starts.

begin;

create function _qwf.wake_for_openings(p_after timestamptz, p_now timestamptz) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_keys int := (
    select count(*) from (
      select from qwf.limit_keys k
      where k.opens_at > p_after and k.opens_at <= p_now order by k.opens_at limit 16) k);
begin
  perform _qwf.wake(s.queue, v_keys)
  from (select distinct z.queue from qwf.sleepers z) s
  where v_keys > 0 and _qwf.next_band(s.queue, null, null) is not null;
  return v_keys;
end $$;

commit;
