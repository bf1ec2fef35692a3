-- Deploy qwf:functions/metrics/_run_metrics
-- Purpose: Returns the figures of runs, and of the questions that people are asked.
-- Guarantees: Counts open runs. Of those that ended it counts up to 10,000; if there are more, it
--   takes their number from the statistics of the server.
-- Called by: metrics_of.

begin;

create function _qwf.run_metrics() returns setof _qwf.metric
language sql stable
set jit = off
as $$
  with open as materialized (
    select r.status, count(*) as runs from qwf.runs r
    where r.status in ('queued', 'running', 'awaiting_input') group by r.status
  ), ended as materialized (
    select e.status, count(*) as runs
    from (select r.status from qwf.runs r where r.finished_at is not null limit 10001) e
    group by e.status
  ), guessed as materialized (
    select v.status, greatest(c.reltuples, 0) * v.part as runs
    from pg_catalog.pg_class c
    join pg_catalog.pg_stats s
      on s.schemaname = 'qwf' and s.tablename = 'runs' and s.attname = 'status'
    cross join lateral unnest(
      s.most_common_vals::text::text[], s.most_common_freqs) v (status, part)
    where c.oid = 'qwf.runs'::regclass and (select sum(e.runs) from ended e) > 10000
  )
  select 'qwf_runs', array['status', s.status::text], round(greatest(
      coalesce(o.runs, e.runs, 0), g.runs)::numeric), 'gauge',
    'Runs in the database, by status; those that ended are estimated from 10,000 on.'
  from unnest(enum_range(null::qwf.run_status)) s (status)
  left join open o on o.status = s.status
  left join ended e on e.status = s.status
  left join guessed g on g.status = s.status::text
    and s.status not in ('queued', 'running', 'awaiting_input')
  union all
  select m.name, '{}', m.value, 'gauge', m.help
  from (
    select count(*) as open, coalesce(max(date_part('epoch', i.age)), 0) as oldest
    from qwf.pending_inputs i) i
  cross join lateral (values
    ('qwf_pending_inputs', i.open::float8, 'Questions that wait for a person.'),
    ('qwf_pending_input_oldest_seconds', i.oldest, 'Age of the oldest question.')
  ) m (name, value, help)
$$;

commit;
