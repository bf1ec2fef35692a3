-- Deploy qwf:functions/invariants/_unsatisfied
-- Purpose: Counts again what each blocked node waits for: dependencies, or elements once a map is
--   expanded.
-- Guarantees: A node that has ended counts as open while its event waits in the outbox.
-- Called by: _job_invariants.

begin;

create function _qwf.unsatisfied() returns table (job_id bigint, count bigint)
language sql stable
as $$
  with open as (
    select d.id from qwf.jobs d
    where d.run_id is not null
      and (d.finished_at is null or (d.elements is not null and d.remaining_deps > 0))
    union
    select o.job_id from qwf.outbox o
    where o.kind in ('completed', 'failed', 'cancelled') and o.poisoned_at is null
  ), blocked as (
    select j.* from qwf.jobs j join qwf.runs r on r.id = j.run_id and r.finished_at is null
    where j.status = 'blocked' and j.parent_id is null
  )
  select j.id, count(o.id)
  from blocked j
  join qwf.graph_edges e on e.graph_id = j.graph_id and e.to_idx = j.node_idx
  join qwf.jobs d on d.run_id = j.run_id and d.node_idx = e.from_idx
  left join open o on o.id = d.id
  where j.elements is null
  group by j.id
  union all
  select j.id, count(o.id)
  from blocked j join qwf.jobs e on e.parent_id = j.id left join open o on o.id = e.id
  where j.elements is not null
  group by j.id
$$;

commit;
