-- Deploy qwf:functions/wake/_redate_starts
-- Purpose: Dates starts that were used in the future from now on: the clock was set back since, and
--   nothing could start until it had come so far again.
-- Guarantees: Such a start may be used again one period from now: never too early. A start that was
--   used by a claim at this moment keeps its time.
-- Locks: these starts, if nobody else has locked them.
-- Called by: _tick_part.

begin;

create function _qwf.redate_starts() returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_count int;
begin
  with ahead as materialized (
    select t.limit_name, t.place
    from qwf.limits l
    join qwf.limit_starts t on t.limit_name = l.name
    where l.starts is not null and t.used_at > v_now + interval '1 s'
    for no key update of t skip locked
  )
  update qwf.limit_starts t set used_at = qwf.now()
  from ahead a
  where t.limit_name = a.limit_name and t.place = a.place and t.used_at > qwf.now();
  get diagnostics v_count = row_count;
  v_count := v_count + _qwf.redate_keys(v_now);
  return least(v_count, 99);
end $$;

commit;
