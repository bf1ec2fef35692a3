-- Deploy qwf:functions/_adopt_running
-- requires: schema/jobs
-- requires: schema/limits
-- Purpose: Gives slots to the jobs of a queue that ran before it was limited, so that they count.
-- Guarantees: A job that ends meanwhile is left out, or its end waits for this and then frees the
--   slot. Slots above max_running are made where more run than may.
-- Locks: running jobs of the queue (share), those that nobody has locked; their slots.
-- Called by: create_queue.

begin;

create function qwf._adopt_running(p_queue text) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into qwf.limit_slots as s (limit_name, slot, job_id)
  select 'queue:' || p_queue, row_number() over (order by held.id), held.id
  from (
    select j.id
    from qwf.jobs j
    where j.queue = p_queue and j.status = 'running'
    for share skip locked
  ) held
  on conflict (limit_name, slot) do update set job_id = excluded.job_id;
end $$;
comment on function qwf._adopt_running(text) is
  'Writes the running jobs of a queue into the slots of its new limit.';
revoke all on function qwf._adopt_running(text) from public;

commit;
