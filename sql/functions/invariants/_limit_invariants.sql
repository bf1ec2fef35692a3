-- Deploy qwf:functions/invariants/_limit_invariants
-- Purpose: Returns violated invariants of limits and their slots, from one snapshot.
-- Guarantees: Takes no lock. A job claimed while its queue got its first limit may run without a
--   slot of that limit; a named limit has no such gap. Jobs of a key that ran when its limit was
--   lowered may be more than it.
-- Called by: _running_invariants, check_invariants.

begin;

create function _qwf.limit_invariants()
returns table (invariant text, subject text, detail text)
language sql stable
as $$
  select 'a slot is held exactly while its job runs', format('limit %s', s.limit_name),
    format('slot %s is held by job %s, which is %s', s.slot, s.job_id,
      coalesce(j.status::text, 'gone'))
  from qwf.limit_slots s left join qwf.jobs j on j.id = s.job_id
  where s.job_id is not null and j.status is distinct from 'running'
  union all
  select 'a slot is held by a job of its limit', format('limit %s', s.limit_name),
    format('slot %s is held by job %s of limit %s and queue %s', s.slot, j.id,
      coalesce(j.limit_by, 'none'), j.queue)
  from qwf.limit_slots s join qwf.jobs j on j.id = s.job_id
  where s.limit_name not in (coalesce(j.limit_by, ''), 'queue:' || j.queue)
  union all
  select 'a job holds one slot of a limit', format('job %s', s.job_id),
    format('%s slots of limit %s', count(*), s.limit_name)
  from qwf.limit_slots s
  where s.job_id is not null
  group by s.job_id, s.limit_name
  having count(*) > 1
  union all
  select 'a running limited job holds a slot', format('job %s', j.id),
    format('it holds none of limit %s', j.limit_by)
  from qwf.jobs j
  where j.status = 'running' and j.limit_by is not null and j.limit_place is null
    and not exists (
      select from qwf.limit_slots s where s.job_id = j.id and s.limit_name = j.limit_by)
  union all
  select 'a limit has its slots', format('limit %s', l.name),
    format('%s of %s slots', count(s.slot), l.max_running)
  from qwf.limits l
  left join qwf.limit_slots s on s.limit_name = l.name and s.slot <= l.max_running
  where not l.keyed
  group by l.name
  having count(s.slot) <> l.max_running
  union all
  select 'a limit has its starts', format('limit %s', l.name),
    format('%s of %s starts', count(t.place), l.starts)
  from qwf.limits l
  left join qwf.limit_starts t on t.limit_name = l.name and t.place <= l.starts
  where not l.keyed
  group by l.name
  having count(t.place) <> l.starts
  union all
  select 'no more jobs of a key run than its limit allows', format('key %s', j.limit_by),
    format('%s of %s', count(*), l.max_running)
  from qwf.jobs j
  join qwf.limits l on l.name = split_part(j.limit_by, ':', 1) and l.keyed
  where j.limit_place is not null and j.status in ('queued', 'running') and _qwf.line_of(j) is null
  group by j.limit_by, l.name
  having count(*) > l.max_running
    and coalesce(l.lowered_at + interval '10 s' < min(j.claimed_at), true)
  union all
  select 'the starts of a key belong to a limit with a rate', format('key %s', k.name),
    format('%s starts', cardinality(k.starts))
  from qwf.limit_keys k
  where k.ends_at > qwf.now() and not exists (
    select from qwf.limits l where l.name = split_part(k.name, ':', 1) and l.keyed)
  union all
  select 'the limit of a queue agrees with the queue', format('queue %s', q.name),
    format('queue %s, limit %s', q.max_running, l.max_running)
  from qwf.queues q left join qwf.limits l on l.name = 'queue:' || q.name
  where q.max_running is distinct from l.max_running
$$;

commit;
