-- Deploy qwf:functions/queues/_store_starts
-- Purpose: Writes the starts of a limit, as many as its rate allows in a period; none if it has no
--   rate.
-- Guarantees: Never waits for a claim: a start above the rate that somebody has locked stays, but
--   is not used any more. When the rate is lowered, the latest uses are kept, so that they count
--   against the new rate.
-- Locks: starts of the limit that nobody has locked.
-- Called by: create_limit, drop_limit.

begin;

create function _qwf.store_starts(p_name text, p_starts int) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  insert into qwf.limit_starts (limit_name, place)
  select p_name, n from generate_series(1, p_starts) n
  where not exists (  -- on conflict would wait for a claim that has the start
    select from qwf.limit_starts t where t.limit_name = p_name and t.place = n);
  with start as materialized (
    select t.place, t.used_at
    from qwf.limit_starts t
    where t.limit_name = p_name and exists (
      select from qwf.limit_starts a where a.limit_name = p_name and a.place > p_starts)
    order by t.place
    for no key update skip locked
  ), kept as (
    select s.place, row_number() over (order by s.place) as nth
    from start s where s.place <= p_starts
  ), latest as (
    select s.used_at, row_number() over (order by s.used_at desc) as nth from start s
  )
  update qwf.limit_starts t set used_at = l.used_at
  from kept k join latest l on l.nth = k.nth
  where t.limit_name = p_name and t.place = k.place;
  delete from qwf.limit_starts t
  using (
    select s.place from qwf.limit_starts s
    where s.limit_name = p_name and s.place > coalesce(p_starts, 0)
    for update skip locked
  ) above
  where t.limit_name = p_name and t.place = above.place;
end $$;

commit;
