-- Deploy qwf:functions/read/_why_key_closed
-- Purpose: Returns who holds the places of a key if none is free, and when its next job may start
--   if its rate is used.
-- Called by: _why_held.

begin;

create function _qwf.why_key_closed(p_name text, p_place bigint, p_now timestamptz)
returns setof text
language sql stable
as $$
  select format('%s has %s of %s running: %s%s', p_name, h.held, l.max_running, h.holders,
    case when h.held > 3 then ', ...' else '' end)
  from qwf.limits l
  cross join lateral (
    select count(*) as held,
      string_agg(format('job %s on %s', r.id, r.claimed_by), ', ' order by r.id)
        filter (where r.nth <= 3) as holders
    from (
      select j.id, j.claimed_by, row_number() over (order by j.id) as nth
      from qwf.jobs j
      where _qwf.line_of(j) is null and _qwf.band_of(j) is null and j.limit_place = p_place
        and j.limit_by = p_name and j.status in ('queued', 'running')
    ) r
  ) h
  where p_place is not null and l.name = split_part(p_name, ':', 1) and l.keyed
    and h.held >= l.max_running
  union all
  select format('%s has used %s of %s in any %s: the next is allowed at %s', p_name, l.starts,
    case l.starts when 1 then '1 start' else format('%s starts', l.starts) end, l.per,
    k.starts[l.starts] + l.per)
  from qwf.limits l
  join qwf.limit_keys k on k.name = p_name
  where p_place is not null and l.name = split_part(p_name, ':', 1) and l.keyed
    and k.starts[l.starts] > p_now - l.per
$$;

commit;
