-- Deploy qwf:functions/wake/_redate_keys
-- Purpose: Dates starts of keys that were used in the future from now on: the clock was set back
--   since, and nothing could start until it had come so far again.
-- Guarantees: Such a start may be used again one period from now: never too early. At most 1000
--   keys; one that a claim has locked is left for the next call.
-- Locks: the row of the key in hash_locks, tried only; rows of limit_keys.
-- Called by: _redate_starts.

begin;

create function _qwf.redate_keys(p_now timestamptz) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  v_count int;
begin
  with ahead as materialized (
    select k.name, l.per, l.starts as allowed
    from (
      select o.name from qwf.limit_keys o
      where o.ends_at > p_now + interval '10 ms' order by o.ends_at desc limit 1000) k
    join qwf.limits l on l.name = split_part(k.name, ':', 1) and l.keyed and l.starts is not null
    join qwf.limit_keys o on o.name = k.name
    where o.starts[1] > p_now + interval '1 s'
      and (select true from _qwf.hash_locks h
        where h.number = hashtextextended(k.name, 0) & 16383 for update skip locked)
  )
  update qwf.limit_keys k set
    starts = array(select least(s, p_now) from unnest(k.starts) s order by 1 desc),
    opens_at = case when cardinality(k.starts) >= a.allowed
      then least(k.starts[a.allowed], p_now) + a.per else p_now end,
    ends_at = p_now + a.per
  from ahead a where k.name = a.name;
  get diagnostics v_count = row_count;
  return v_count;
end $$;

commit;
