-- Deploy qwf:functions/runs/_lock_obsolete
-- Purpose: Locks obsolete jobs that are not running. Never locks a running one.
-- Guarantees: Never waits. Blocked rows change under the lock of their run alone: all are locked.
--   If a claim makes a row running between the read and the lock, the row is locked without
--   matching, and its worker would wait for the caller's open transaction. Then the subtransaction
--   is rolled back, which drops the locks, and the search starts again. After five rounds the stop
--   event does the rest.
-- Locks: jobs of the runs that are not running (by id), if they are free.
-- Called by: _cancel_obsolete.

begin;

create function _qwf.lock_obsolete(p_runs bigint[]) returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_material = off
set jit = off
as $$
declare
  v_blocked bigint[];
  v_seen bigint[];
  v_locked bigint[];
begin
  v_blocked := array(
    select j.id from qwf.jobs j
    where j.run_id = any (p_runs) and j.status = 'blocked'
      and _qwf.is_obsolete(j.run_id, j.run_if, j.parent_id)
    order by j.id
    for no key update skip locked);
  for v_round in 1..5 loop
    begin
      v_seen := array(
        select j.id from qwf.jobs j
        where j.run_id = any (p_runs) and j.status in ('scheduled', 'queued', 'awaiting_input')
          and _qwf.is_obsolete(j.run_id, j.run_if, j.parent_id));
      v_locked := array(
        select j.id from qwf.jobs j
        where j.id = any (v_seen) and j.status in ('scheduled', 'queued', 'awaiting_input')
        order by j.id
        for no key update skip locked);
      if cardinality(v_locked) = cardinality(v_seen) or not exists (
        select from qwf.jobs j
        where j.id in (select unnest(v_seen) except select unnest(v_locked))
          and j.status = 'running')
      then
        return v_blocked || v_locked;
      end if;
      raise exception using errcode = 'QW002', message = 'claimed meanwhile';
    exception
      when sqlstate 'QW002' then
        continue;
    end;
  end loop;
  return v_blocked;
end $$;

commit;
