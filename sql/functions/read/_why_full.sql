-- Deploy qwf:functions/read/_why_full
-- Purpose: Returns who holds the slots of a limit if none is free.
-- Called by: _why_held.

begin;

create function _qwf.why_full(p_limit text) returns text
language sql stable
as $$
  select format('%s of %s slots are taken: %s%s', h.held, l.max_running, h.holders,
    case when h.held > 3 then ', ...' else '' end)
  from qwf.limits l
  cross join lateral (
    select count(*) as held,
      string_agg(format('job %s on %s', j.id, j.claimed_by), ', ' order by j.id)
        filter (where s.nth <= 3) as holders
    from (
      select f.job_id, row_number() over (order by f.job_id) as nth
      from qwf.limit_slots f
      where f.limit_name = l.name and f.job_id is not null
    ) s
    join qwf.jobs j on j.id = s.job_id
  ) h
  where l.name = p_limit and h.held >= l.max_running
$$;

commit;
