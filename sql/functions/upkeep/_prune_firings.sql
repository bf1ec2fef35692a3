-- Deploy qwf:functions/upkeep/_prune_firings
-- Purpose: Deletes firings older than the retention.
-- Guarantees: Keeps open firings. Of a schedule that exists, keeps the last 100 and the newest that
--   completed. Looks at the next p_max firings by id, and starts again when all of them are too
--   young: the cost does not grow with the table.
-- Locks: firings that nobody else has locked.
-- Called by: prune.

begin;

create function _qwf.prune_firings(p_max int) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
declare
  v_old timestamptz := qwf.now() - (select s.retention from qwf.settings s);
  v_seen bigint[];
  v_oldest timestamptz;
  v_deleted int;
begin
  select array_agg(w.id order by w.id), min(w.at) into v_seen, v_oldest
  from (
    select f.id, f.at from qwf.firings f
    where f.id > (select c.last_value from qwf.prune_firing c)
    order by f.id
    limit p_max
  ) w;
  if v_oldest is null or v_oldest >= v_old then
    perform setval('qwf.prune_firing', 0);
    return 0;
  end if;
  perform setval('qwf.prune_firing', coalesce(v_seen[p_max], 0));
  delete from qwf.firings f
  where f.id = any (array(
    select o.id
    from (
      select d.schedule, s.name is not null as there,
        coalesce((
          select k.id from qwf.firings k where k.schedule = d.schedule
          order by k.id desc offset 99 limit 1), 0) as kept_from,
        (
          select k.id from qwf.firings k
          where coalesce(k.backfill_of, k.schedule) = d.schedule and k.result = 'completed'
          order by k.ended_at desc limit 1) as success
      from (select distinct x.schedule from qwf.firings x where x.id = any (v_seen)) d
      left join qwf.schedules s on s.name = d.schedule
      offset 0) h
    join qwf.firings o on o.schedule = h.schedule and o.id = any (v_seen)
    where coalesce(o.ended_at, o.at) < v_old and (o.outcome <> 'fired' or o.result is not null)
      and (not h.there or o.id < h.kept_from and o.id is distinct from h.success)
    for update of o skip locked));
  get diagnostics v_deleted = row_count;
  return v_deleted;
end $$;

commit;
