-- Deploy qwf:functions/usual/_merge_usual
-- Purpose: Adds times, and the last ends, to those that usual_times knows.
-- Guarantees: Of recent, what is older than 14 days becomes older, and what was older is
--   forgotten, so that what is usual follows what happens. A run that ends again, because it was
--   retried, takes the place of its last end.
-- Locks: the rows. Ticks call it one at a time: with the row of _qwf.judged locked for runs and
--   nodes, with the lock roll_up for tasks.
-- Called by: _learn_nodes, _learn_runs, _roll_up_counts.

begin;

create function _qwf.merge_usual(p_new _qwf.usual_new[], p_keep int) returns void
language sql
set search_path = pg_catalog, pg_temp
as $$
  insert into qwf.usual_times (
    kind, name, node, since, recent, older, runs, longest, p50, p90, p95,
    last_at, last_status, last_seconds, last_success, last)
  select
    n.kind, n.name, n.node, case when a.same then o.since else qwf.now() end, m.recent, m.older,
    m.runs, m.longest, q.p[1], q.p[2], q.p[3],
    greatest(o.last_at, n.last_at),
    case when o.last_at > n.last_at then o.last_status else n.last_status end,
    case when o.last_at > n.last_at then o.last_seconds else n.last_seconds end,
    greatest(o.last_success, n.last_success), array_to_json(k.last)::jsonb
  from unnest(p_new) n
  left join qwf.usual_times o on o.kind = n.kind and o.name = n.name and o.node = n.node
  cross join lateral (select o.since > qwf.now() - interval '14 days') a (same)
  cross join lateral (
    select h.recent, h.older,
      (select coalesce(sum(c), 0) from unnest(h.recent || h.older) c) as runs,
      greatest(o.longest, n.longest) as longest
    from (
      select
        coalesce(case when a.same then _qwf.add_histograms(o.recent, n.counts) else n.counts end,
          o.recent, '{}') as recent,
        coalesce(case when a.same then o.older else o.recent end, '{}') as older) h) m
  cross join lateral (  -- the middles of the buckets that hold half, nine of ten and 19 of 20
    select array[
      min(b.seconds) filter (where b.seen >= 0.5 * b.total),
      min(b.seconds) filter (where b.seen >= 0.9 * b.total),
      min(b.seconds) filter (where b.seen >= 0.95 * b.total)]::real[]
    from (
      select least(1.2::float8 ^ (c.n - 1.5) / 1000, m.longest) as seconds,
        sum(c.count) over (order by c.n) as seen, sum(c.count) over () as total
      from unnest(_qwf.add_histograms(m.recent, m.older)) with ordinality c (count, n)) b
    where b.total > 0) q (p)
  cross join lateral (
    select array(
      select f.one
      from (
        select distinct on (e.one -> 'run') e.one, e.place
        from jsonb_array_elements(coalesce(n.last, '[]') || coalesce(o.last, '[]'))
          with ordinality e (one, place)
        order by e.one -> 'run', e.place) f
      order by f.place
      limit p_keep)) k (last)
  on conflict (kind, name, node) do update set
    since = excluded.since, recent = excluded.recent, older = excluded.older, runs = excluded.runs,
    longest = excluded.longest, p50 = excluded.p50, p90 = excluded.p90, p95 = excluded.p95,
    last_at = excluded.last_at, last_status = excluded.last_status,
    last_seconds = excluded.last_seconds, last_success = excluded.last_success,
    last = excluded.last
$$;

commit;
