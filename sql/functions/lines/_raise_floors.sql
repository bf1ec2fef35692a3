-- Deploy qwf:functions/lines/_raise_floors
-- Purpose: Returns the floors of the running jobs of keys, with those of keys whose count passes
--   many jobs that have ended.
-- Guarantees: A floor is read in a statement that began under the lock of the key, so no claim that
--   is still open can have given a job of the key a lower position. Keeps 50 floors at most.
-- Locks: the row of the key in hash_locks, tried only.
-- Called by: _keep_line.

begin;

create function _qwf.raise_floors(p_floors _qwf.key_floor[], p_places bigint[])
returns _qwf.key_floor[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_floors _qwf.key_floor[] := coalesce(p_floors, '{}');
  v_place bigint;
  v_last bigint;
  v_first bigint;
  v_walked bigint;
begin
  foreach v_place in array p_places loop
    v_walked := _qwf.index_entries_walked('qwf.jobs_keyed');
    v_first := coalesce(
      (select max(f.position) from unnest(v_floors) f where f.place = v_place),
      -9223372036854775808);
    perform from qwf.jobs j
    where _qwf.line_of(j) is null and _qwf.band_of(j) is null and j.limit_place = v_place
      and j.position >= v_first and j.status in ('queued', 'running')
    order by j.position limit 1;
    continue when _qwf.index_entries_walked('qwf.jobs_keyed') - v_walked <= 100
      or not exists (select from _qwf.hash_locks h
        where h.number = v_place & 16383 for update skip locked);
    v_last := pg_sequence_last_value('qwf.job_position');
    select j.position into v_first from qwf.jobs j
    where _qwf.line_of(j) is null and _qwf.band_of(j) is null and j.limit_place = v_place
      and j.position >= v_first and j.status in ('queued', 'running')
    order by j.position limit 1;
    v_floors := array(select f from unnest(v_floors) f where f.place <> v_place limit 49)
      || (v_place, coalesce(v_first, v_last))::_qwf.key_floor;
  end loop;
  return v_floors;
end $$;

commit;
