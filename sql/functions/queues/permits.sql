-- Slots and starts of a limit, one row each. Locks: starts, running jobs, then slots, each only
-- if nobody else has locked it.

-- Writes the slots of a limit. Never waits for a claim: a free slot above max_running that
-- somebody has locked stays, but is not handed out any more.
-- Locks: free slots of the limit above max_running that nobody has locked.
create function _qwf.store_slots(p_name text, p_max_running int) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into qwf.limit_slots (limit_name, slot)
  select p_name, n from generate_series(1, p_max_running) n
  where not exists (  -- on conflict would wait for a claim that has the slot
    select from qwf.limit_slots s where s.limit_name = p_name and s.slot = n);
  delete from qwf.limit_slots s
  using (
    select f.slot
    from qwf.limit_slots f
    where f.limit_name = p_name and f.slot > p_max_running and f.job_id is null
    for update skip locked
  ) free
  where s.limit_name = p_name and s.slot = free.slot;
end $$;

-- Writes the starts of a limit, as many as its rate allows in a period; none if it has no rate.
-- Never waits for a claim: a start above the rate that somebody has locked stays, but is not
-- used any more. When the rate is lowered, the latest uses are kept, so that they count against
-- the new rate.
-- Locks: starts of the limit that nobody has locked.
create function _qwf.store_starts(p_name text, p_starts int) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into qwf.limit_starts (limit_name, place)
  select p_name, n from generate_series(1, p_starts) n
  where not exists (  -- on conflict would wait for a claim that has the start
    select from qwf.limit_starts t where t.limit_name = p_name and t.place = n);
  with start as materialized (
    select t.place, t.used_at
    from qwf.limit_starts t
    where t.limit_name = p_name and exists (
      select from qwf.limit_starts a where a.limit_name = p_name and a.place > p_starts)
    order by t.place
    for no key update skip locked
  ), kept as (
    select s.place, row_number() over (order by s.place) as nth
    from start s where s.place <= p_starts
  ), latest as (
    select s.used_at, row_number() over (order by s.used_at desc) as nth from start s
  )
  update qwf.limit_starts t set used_at = l.used_at
  from kept k join latest l on l.nth = k.nth
  where t.limit_name = p_name and t.place = k.place;
  delete from qwf.limit_starts t
  using (
    select s.place from qwf.limit_starts s
    where s.limit_name = p_name and s.place > coalesce(p_starts, 0)
    for update skip locked
  ) above
  where t.limit_name = p_name and t.place = above.place;
end $$;

-- Gives slots to the running jobs of a queue that has just been limited, so that they count. A
-- job that ends meanwhile is left out, or its end waits for this and then frees the slot. Makes
-- slots above max_running if more jobs run than the limit allows.
-- Locks: running jobs of the queue that nobody has locked; their slots.
create function _qwf.give_slots_to_running(p_queue text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  with running as materialized (
    select j.id from qwf.jobs j
    where j.queue = p_queue and j.status = 'running'
    for no key update skip locked
  ), touched as (  -- so that a report from an older snapshot, without the slot, is refused
    update qwf.jobs j set limit_by = j.limit_by from running r where j.id = r.id
  ), taken as materialized (  -- left over from an earlier limit of the queue
    select s.slot, s.job_id from qwf.limit_slots s
    where s.limit_name = 'queue:' || p_queue and s.job_id is not null
  ), uncounted as (
    select r.id, row_number() over (order by r.id) as n from running r
    where r.id not in (select t.job_id from taken t)
  ), free_slot as (
    select n.slot, row_number() over (order by n.slot) as n
    from generate_series(1, (select count(*) from running) + (select count(*) from taken)) n (slot)
    where n.slot not in (select t.slot from taken t)
  )
  insert into qwf.limit_slots (limit_name, slot, job_id)
  select 'queue:' || p_queue, f.slot, u.id from uncounted u join free_slot f on f.n = u.n
  on conflict (limit_name, slot) do update set job_id = excluded.job_id;
end $$;

-- Frees the slots of jobs whose attempt ended. Runs in the transaction that ends the attempts,
-- so that a job holds its slot exactly while it runs. Never deletes a slot, even of a dropped
-- limit: somebody may be creating a limit of that name and count on the slot.
-- Locks: the slots of these jobs.
-- Notifies: sleepers of the queues where jobs wait for the slots.
create function _qwf.release_slots(p_jobs bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_freed record;
begin
  for v_freed in
    with freed as (
      update qwf.limit_slots s set job_id = null
      where s.job_id = any (p_jobs)
      returning s.limit_name
    )
    select f.limit_name as name, count(*)::int as slots from freed f group by f.limit_name
  loop
    perform _qwf.wake_for_limit(v_freed.name, v_freed.slots);
  end loop;
end $$;
