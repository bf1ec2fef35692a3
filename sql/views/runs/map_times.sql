-- Deploy qwf:views/runs/map_times
-- Purpose: How long the elements of maps ran: what is typical, which were the slowest, and how the
--   times are spread.
-- Guarantees: One row a map. The time of an element is that of its body, added up over the attempts
--   that ended by themselves: no wait, no attempt that was lost, cancelled or given back. Reads the
--   attempts of the map once.
-- Called by: people, qwf web.

begin;

create view qwf.map_times as
select
  m.id as map_id, m.run_id, m.node_id, t.elements, t.low, t.typical, t.high, t.seconds, t.slowest,
  t.slowest_seconds, t.bins
from qwf.jobs m
cross join lateral (
  with element as materialized (
    select
      c.id, sum(coalesce(_qwf.as_number(a.detail -> 'body_s')::float8,
        date_part('epoch', a.finished_at - a.started_at))) as seconds
    from (
      select c.id from qwf.jobs c
      where c.parent_id = m.id
      order by c.element limit coalesce(m.elements, 0)) c  -- so it is read by its index
    cross join lateral (  -- offset: else the planner may read the attempts of all maps
      select t.started_at, t.finished_at, t.detail from qwf.job_attempts t
      where t.job_id = c.id and t.outcome in ('completed', 'error', 'fatal', 'tempfail')
        and isfinite(t.started_at) and isfinite(t.finished_at)
      offset 0) a
    group by c.id
  ), whole as (
    select
      count(*) as elements, min(e.seconds) as low, max(e.seconds) as high,
      percentile_cont(0.5) within group (order by e.seconds) as typical, sum(e.seconds) as seconds
    from element e
  ), slowest as (
    select e.id, e.seconds from element e order by e.seconds desc, e.id limit 10
  ), bin as (
    select
      least(20, width_bucket(e.seconds, w.low, greatest(w.high, w.low + 1e-6), 20)) as bin,
      count(*)::int as count
    from whole w cross join element e
    group by 1
  )
  select
    w.*, array(select s.id from slowest s order by s.seconds desc, s.id) as slowest,
    array(select s.seconds from slowest s order by s.seconds desc, s.id) as slowest_seconds,
    array(
      select coalesce(b.count, 0)
      from generate_series(1, 20) g (bin) left join bin b on b.bin = g.bin
      order by g.bin) as bins
  from whole w
) t
where m.elements is not null and m.run_id is not null;
comment on view qwf.map_times is
  'How long the elements of maps ran: select * from qwf.map_times where run_id = 7.';
comment on column qwf.map_times.map_id is 'Job id of the map.';
comment on column qwf.map_times.run_id is 'Run of the map.';
comment on column qwf.map_times.node_id is 'Node of the map.';
comment on column qwf.map_times.elements is
  'Elements with an attempt that ended by itself. The other columns are about these.';
comment on column qwf.map_times.low is 'Seconds of the fastest; null: none has ended.';
comment on column qwf.map_times.typical is 'Seconds that half of them were shorter than.';
comment on column qwf.map_times.high is 'Seconds of the slowest.';
comment on column qwf.map_times.seconds is 'Seconds of all, added up.';
comment on column qwf.map_times.slowest is 'Job ids of the ten slowest, the slowest first.';
comment on column qwf.map_times.slowest_seconds is 'Their seconds.';
comment on column qwf.map_times.bins is
  'How many elements are in each of 20 equal parts of the time from low to high.';

commit;
