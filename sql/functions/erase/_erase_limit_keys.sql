-- Deploy qwf:functions/erase/_erase_limit_keys
-- Purpose: Deletes the starts and holds of keys that only ended jobs have named.
-- Guarantees: A key that a job of another state still names is kept: it is in the row of that job,
--   too. So is one that a claim or a tick holds; a tick deletes it when its starts no longer count.
-- Notices: how many are kept because a claim or a tick holds them.
-- Locks: the row of the key in hash_locks, tried only; rows of limit_keys.
-- Called by: erase.

begin;

create function _qwf.erase_limit_keys(p_names text[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_held bigint;
begin
  delete from qwf.limit_keys k
  where k.name = any (p_names)
    and (select true from _qwf.hash_locks h
      where h.number = _qwf.limit_place(k.name) & 16383 for update skip locked)
    and not exists (
      select from qwf.jobs j where j.limit_by = k.name and j.finished_at is null);
  delete from qwf.limit_holds h
  where h.name = any (p_names) and not exists (
    select from qwf.jobs j where j.limit_by = h.name and j.finished_at is null);
  select count(*) into v_held from qwf.limit_keys k
  where k.name = any (p_names) and not exists (
    select from qwf.jobs j where j.limit_by = k.name and j.finished_at is null);
  if v_held > 0 then
    raise notice 'names of % limit keys stay for now', v_held
      using detail = 'a claim or a tick holds them at this moment',
        hint = 'a tick deletes them when their starts no longer count';
  end if;
end $$;

commit;
