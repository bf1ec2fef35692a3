-- Deploy qwf:functions/queues/_without_held
-- Purpose: Takes the jobs of held tasks out of a count of queued jobs: they wait on purpose.
-- Guarantees: Looks at the first 10,000 jobs without a limit and at as many with one.
-- Called by: _count_queued.

begin;

create function _qwf.without_held(p_queue text, p_count _qwf.queued_count)
returns _qwf.queued_count
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_tasks text[] := (
    select array_agg(h.task) from qwf.held_tasks h
    where h.queue = p_queue and h.until is not null);
  v_held bigint;
  v_others bigint;
begin
  if v_tasks is null then
    return p_count;
  end if;
  with head as (
    (select j.* from qwf.jobs j
    where j.queue = p_queue and j.status = 'queued' and j.limit_by is null
    order by j.run_next desc, j.priority, j.position limit 10000)
    union all
    (select j.* from qwf.jobs j
    where j.queue = p_queue and j.status = 'queued' and j.limit_by is not null limit 10000)
  ), waiting as (
    select h.id, h.queued_at, h.task = any (v_tasks) and not h.run_next as held,
      row_number() over (order by h.run_next desc, h.priority, h.position) as nth
    from head h
  )
  select count(*) filter (where w.held), count(*) filter (where not w.held),
    (array_agg(w.id order by w.nth) filter (where not w.held))[1],
    (array_agg(w.queued_at order by w.nth) filter (where not w.held))[1],
    min(w.queued_at) filter (where not w.held)
    into v_held, v_others, p_count.head, p_count.head_since, p_count.oldest_since
  from waiting w;
  p_count.queued := greatest(p_count.queued - v_held, sign(v_others)::bigint)::int;
  return p_count;
end $$;

commit;
