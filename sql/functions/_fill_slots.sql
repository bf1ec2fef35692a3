-- Deploy qwf:functions/_fill_slots
-- requires: schema/jobs
-- requires: schema/limits
-- Purpose: Writes the jobs that a claim has made running into the slots it locked for them.
-- Guarantees: A job that was not made running after all (an unresolvable reference) takes no slot.
-- Locks: expects the slots locked by the caller.
-- Called by: claim.

begin;

create function qwf._fill_slots(p_slots qwf.limit_slots[], p_jobs bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  with place as materialized (
    select s.limit_name, s.slot, row_number() over (partition by s.limit_name order by s.slot) as n
    from unnest(p_slots) s
  ), taken as materialized (  -- by id and token: the token is null unless running
    select l.name, j.id, row_number() over (partition by l.name order by j.id) as n
    from unnest(p_jobs) p (id)
    cross join lateral (select j.* from qwf.jobs j where j.id = p.id offset 0) j
    cross join lateral unnest(array[j.limit_by, 'queue:' || j.queue]) l (name)
    where j.token is not null
  )
  update qwf.limit_slots s set job_id = t.id
  from place p join taken t on t.name = p.limit_name and t.n = p.n
  where s.limit_name = p.limit_name and s.slot = p.slot;
end $$;
comment on function qwf._fill_slots(qwf.limit_slots[], bigint[]) is
  'Gives each running job one of the slots of its limit and of its queue.';
revoke all on function qwf._fill_slots(qwf.limit_slots[], bigint[]) from public;

commit;
