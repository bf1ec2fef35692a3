-- Deploy qwf:functions/invariants/_key_invariants
-- Purpose: Returns violated invariants of limits that count by key, from one snapshot.
-- Guarantees: Takes no lock. Jobs that ran when a limit was lowered may be more than it.
-- Called by: _limit_invariants.

begin;

create function _qwf.key_invariants()
returns table (invariant text, subject text, detail text)
language sql stable
as $$
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
$$;

commit;
