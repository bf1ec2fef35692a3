-- Deploy qwf:functions/queues/_give_slots_to_running
-- Purpose: Gives slots to the running jobs of a queue that has just been limited, so that they
--   count.
-- Guarantees: A job that ends meanwhile is left out, or its end waits for this and then frees the
--   slot. Makes slots above max_running if more jobs run than the limit allows.
-- Locks: running jobs of the queue that nobody has locked; their slots.
-- Called by: _limit_queue.

begin;

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

commit;
