-- Deploy qwf:functions/read/_why_spent
-- Purpose: Returns what the rate of a limit allows and when the next job may start, if all starts
--   of the period are used.
-- Called by: _why_held.

begin;

create function _qwf.why_spent(p_limit text, p_now timestamptz) returns text
language sql stable
as $$
  select format('%s in any %s, and all are used: the next is allowed at %s',
    case l.starts when 1 then '1 start' else format('%s starts', l.starts) end, l.per,
    min(t.used_at) + l.per)
  from qwf.limits l
  join qwf.limit_starts t on t.limit_name = l.name and t.place <= l.starts
  where l.name = p_limit
  group by l.name
  having min(t.used_at) > p_now - l.per
$$;

commit;
