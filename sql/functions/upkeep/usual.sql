-- The usual duration of runs, nodes and tasks, learned from their ends. Locks: the row of
-- _qwf.judged, which it skips if taken; then totals.

create type _qwf.past_run as (
  workflow text, run_id bigint, at timestamptz, status text, seconds real);
comment on type _qwf.past_run is
  'A run that ended, as its event says; seconds without the time that it waited for answers.';

create type _qwf.usual_new as (
  kind text, name text, node text, counts bigint[], longest real, last_success timestamptz,
  last_at timestamptz, last_status text, last_seconds real, last jsonb);
comment on type _qwf.usual_new is 'Figures to add to a row of usual_times.';

-- Adds the runs that ended, and their nodes, to what is usual, and events to the totals that the
-- metrics show: the events with a number above the last that was learned. Each event counts once,
-- also after a crash: the last number moves in the same transaction. Looks at p_max events. A run
-- counts without the time that it waited for answers; only those that completed count for what is
-- usual. Returns the bound if it has reached it.
-- Locks: the row of _qwf.judged; while another transaction has it, it does nothing; the totals.
create function _qwf.learn_runs(p_max int default 2000) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_from bigint;
  v_last bigint;
  v_count int;
  v_ended _qwf.past_run[];
begin
  select g.learned_seq into v_from from _qwf.judged g for no key update skip locked;
  if not found then
    return 0;
  end if;
  with seen as materialized (
    select e.seq, e.kind, e.run_id, e.subject, e.at, e.detail
    from _qwf.event_log e where e.seq > v_from order by e.seq limit p_max
  )
  select max(s.seq), count(*), array_agg((
      s.subject, s.run_id, s.at, s.detail ->> 'status', t.seconds - case when exists (
          select from _qwf.event_log a where a.run_id = s.run_id and a.kind = 'question_asked')
        then least(t.seconds,  -- a call for each run takes nine tenths of the time
          _qwf.asked_seconds(s.run_id, s.at - t.seconds * interval '1 s', s.at))
        else 0 end)::_qwf.past_run
    order by s.seq) filter (where s.kind = 'run_ended' and s.subject is not null)
  into v_last, v_count, v_ended
  from seen s
  cross join lateral (
    select greatest(_qwf.as_number(s.detail -> 'seconds'), 0)::real as seconds
    where s.kind = 'run_ended' union all select null where s.kind <> 'run_ended') t;
  if v_last is null then
    return 0;
  end if;
  update _qwf.judged g set learned_seq = v_last;
  insert into _qwf.event_totals as t (kind, count, failed_alerts)
  select e.kind, count(*), count(*) filter (where e.kind = 'alert_failed' or e.names ? 'alert'
    and (e.kind = 'job_failed' or e.kind = 'run_ended' and e.detail ->> 'status' = 'failed'))
  from _qwf.event_log e
  where e.seq > v_from and e.seq <= v_last
  group by e.kind
  on conflict (kind) do update set
    count = t.count + excluded.count, failed_alerts = t.failed_alerts + excluded.failed_alerts;
  insert into _qwf.run_totals as t (workflow, status, count, seconds, edges)
  select e.workflow, e.status, count(*), sum(e.seconds),
    _qwf.edge_counts(_qwf.histogram(array_agg(e.seconds)))
  from unnest(v_ended) e
  where e.status is not null and e.seconds is not null
  group by e.workflow, e.status
  on conflict (workflow, status) do update set
    count = t.count + excluded.count, seconds = t.seconds + excluded.seconds,
    edges = _qwf.add_histograms(t.edges, excluded.edges);
  perform _qwf.merge_usual(array_agg(w.row), 60)
  from (
    select ('run', e.workflow, '',
      _qwf.histogram(array_agg(e.seconds)
        filter (where e.status = 'completed' and e.seconds is not null)),
      max(e.seconds) filter (where e.status = 'completed'),
      max(e.at) filter (where e.status = 'completed'),
      max(e.at), (array_agg(e.status order by e.place desc))[1],
      (array_agg(e.seconds order by e.place desc))[1],
      jsonb_agg(jsonb_build_object('run', e.run_id, 'status', e.status, 'seconds', e.seconds,
        'at', e.at) order by e.place desc))::_qwf.usual_new as row
    from (
      select x.* from unnest(v_ended)
        with ordinality x (workflow, run_id, at, status, seconds, place)) e
    group by e.workflow) w;
  perform _qwf.learn_nodes(v_ended);
  return v_count;
end $$;

-- Returns for how many seconds a run waited for the answers of people. Reads the events of the
-- run. A question without an answer counts until p_until.
create function _qwf.asked_seconds(p_run bigint, p_from timestamptz, p_until timestamptz)
returns float8
language sql stable
as $$
  select coalesce(sum(date_part('epoch', least(e.until, p_until) - a.at)), 0)
  from _qwf.event_log a
  left join lateral (
    select min(b.at) as until from _qwf.event_log b
    where b.run_id = a.run_id and b.job_id = a.job_id and b.id > a.id
      and b.kind in ('question_answered', 'expired', 'cancelled', 'retried')) e on true
  where a.run_id = p_run and a.kind = 'question_asked' and a.at >= p_from and a.at < p_until
$$;

-- Counts times by bucket, each bucket a fifth wider than the one before. Bucket 0 is below a
-- millisecond, 1 starts there, 127 is everything above 110 days. The middle of a bucket is
-- within a tenth of every time in it (see view job_stats). The list ends with the last bucket
-- that is not empty.
create function _qwf.histogram(p_seconds real[]) returns bigint[]
language sql immutable parallel safe
as $$
  with filled as (
    select
      width_bucket(ln(greatest(s.seconds, 0.0005)), ln(0.001::float8),
        ln(0.001::float8) + 126 * ln(1.2::float8), 126) as bucket,
      count(*) as count
    from unnest(p_seconds) s (seconds)
    group by 1
  )
  select array_agg(coalesce(f.count, 0) order by b.bucket)
  from generate_series(0, (select max(f.bucket) from filled f)) b (bucket)
  left join filled f on f.bucket = b.bucket
$$;

-- Adds two histograms.
create function _qwf.add_histograms(p_one bigint[], p_other bigint[]) returns bigint[]
language sql immutable parallel safe
as $$
  select array_agg(coalesce(b.one, 0) + coalesce(b.other, 0) order by b.n)
  from unnest(p_one, p_other) with ordinality b (one, other, n)
$$;

-- Adds times, and the last ends, to those that usual_times knows. Of recent, what is older than
-- 14 days becomes older, and what was older is forgotten, so that what is usual follows what
-- happens. A run that ends again, because it was retried, takes the place of its last end.
-- Locks: the rows. Ticks call it one at a time: with the row of _qwf.judged locked for runs and
--   nodes, with the lock roll_up for tasks.
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

-- Adds the nodes of runs that ended to what is usual for them. Of the newest 100 runs the first
-- 200 nodes each, 3,000 in all: of more runs it is a sample. The time of a node is that of its
-- last attempt, by the body if the worker has reported it; of a map from its first element to
-- its end. A node that was skipped counts for nothing.
-- Locks: as _merge_usual.
create function _qwf.learn_nodes(p_ended _qwf.past_run[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
begin
  perform _qwf.merge_usual(array_agg(w.row), 30)
  from (
    select ('node', n.workflow, n.node_id,
      _qwf.histogram(array_agg(n.seconds)
        filter (where n.status = 'completed' and n.seconds is not null)),
      max(n.seconds) filter (where n.status = 'completed'),
      max(n.finished_at) filter (where n.status = 'completed'),
      max(n.finished_at), (array_agg(n.status order by n.place desc))[1],
      (array_agg(n.seconds order by n.place desc))[1],
      jsonb_agg(jsonb_build_object('run', n.run_id, 'status', n.status, 'seconds', n.seconds,
        'at', n.finished_at) order by n.place desc))::_qwf.usual_new as row
    from (
      select e.workflow, e.run_id, e.place, j.node_id, j.status::text as status, j.finished_at,
        greatest(coalesce(
          _qwf.as_number(a.detail -> 'body_s'), date_part('epoch', a.finished_at - a.started_at),
          date_part('epoch', j.finished_at - m.began)), 0)::real as seconds
      from (
        select x.* from unnest(p_ended)
          with ordinality x (workflow, run_id, at, status, seconds, place)
        order by x.place desc limit 100) e
      cross join lateral (
        select k.id, k.node_id, k.status, k.finished_at, k.elements
        from qwf.jobs k where k.run_id = e.run_id and k.node_idx < 200
        order by k.node_idx offset 0) j
      left join lateral (
        select t.started_at, t.finished_at, t.detail from qwf.job_attempts t
        where t.job_id = j.id order by t.attempt desc limit 1) a on true
      left join lateral (
        select min(k.started_at) as began from qwf.jobs k
        where k.parent_id = j.id and k.element < 20 and j.elements is not null) m on true
      where j.finished_at is not null and j.status in ('completed', 'failed', 'cancelled')
      limit 3000) n
    group by n.workflow, n.node_id) w;
end $$;

-- Returns after how many seconds a run, node or job is late: what is declared, else what was
-- learned: twice the time that 19 of 20 took, at least a minute more than that. Null if nothing
-- is declared, and fewer than 10 have completed.
create function _qwf.late_after(p_takes jsonb, p_runs bigint, p_p95 real) returns float8
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
begin
  return coalesce(date_part('epoch', _qwf.as_interval(p_takes)),
    case when p_runs >= 10 then greatest(2 * p_p95, p_p95 + 60) end);
end $$;
call _qwf.allow('_qwf.late_after', 'qwf_viewer');
