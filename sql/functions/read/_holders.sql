-- Deploy qwf:functions/read/_holders
-- Purpose: Returns the transactions that may hold a row whose xmax is given: that one, or the
--   members if several share the lock and it is the number of a group of them.
-- Guarantees: No row tells which of both a number is, so the caller compares with open
--   transactions. A number that is no group raises nothing.
-- Called by: _why_held.

begin;

create function _qwf.holders(p_xmax xid) returns setof xid
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return next p_xmax;
  if p_xmax <> '0'::xid then
    return query select m.xid from pg_get_multixact_members(p_xmax) m;
  end if;
exception
  when others then  -- no group of this number exists (any more)
    return;
end $$;

commit;
