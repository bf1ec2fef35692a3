-- Deploy qwf:functions/lines/_use_key_starts
-- Purpose: Writes the starts of the jobs that a claim has made running, for keys of limits with a
--   rate.
-- Guarantees: The claim holds the locks of the keys, so nobody else counts meanwhile, and no two
--   write a row at once. A job that was not made running uses no start. Keeps the latest starts, as
--   many as the limit allows in a period: so the window is exact.
-- Locks: rows of limit_keys, under the locks of the keys.
-- Called by: _use_permits.

begin;

create function _qwf.use_key_starts(p_jobs _qwf.picked[], p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into qwf.limit_keys as k (name, starts, opens_at, ends_at)
  select u.name, u.starts, case when cardinality(u.starts) >= u.allowed
    then u.starts[u.allowed] + u.per else p_now end, p_now + u.per
  from (
    select j.limit_by as name, l.starts as allowed, l.per, (array_agg(p_now) || coalesce(
      (select o.starts from qwf.limit_keys o where o.name = j.limit_by), '{}'))[1 : l.starts]
      as starts
    from unnest(p_jobs) p
    cross join lateral (
      select b.limit_by, b.limit_place, b.token from qwf.jobs b where b.id = p.id offset 0) j
    join qwf.limits l on l.name = split_part(j.limit_by, ':', 1) and l.keyed
    where j.limit_place is not null and j.token is not null and l.starts is not null
    group by j.limit_by, l.starts, l.per
  ) u
  on conflict (name) do update set
    starts = excluded.starts, opens_at = excluded.opens_at, ends_at = excluded.ends_at;
end $$;

commit;
