-- Deploy qwf:functions/upkeep/_forget_keys
-- Purpose: Deletes the starts of keys that no longer count.
-- Guarantees: 1000 at most, under the locks of the keys: a claim that counts the starts of a key
--   has it locked, so this neither waits for a claim nor lets one wait.
-- Locks: the row of the key in hash_locks, tried only; rows of limit_keys.
-- Called by: _tick_part.

begin;

create function _qwf.forget_keys() returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  v_count int;
begin
  delete from qwf.limit_keys k
  using (
    select o.name from (
      select e.name, e.ends_at from qwf.limit_keys e
      where e.ends_at < qwf.now() - interval '10 s' order by e.ends_at limit 1000) o
    where (select true from _qwf.hash_locks h
      where h.number = hashtextextended(o.name, 0) & 16383 for update skip locked)
  ) ended
  where k.name = ended.name and k.ends_at < qwf.now();
  get diagnostics v_count = row_count;
  return v_count;
end $$;

commit;
