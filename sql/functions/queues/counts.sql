-- Numbers of queued jobs, exact or estimated, and the first in line.

create type qwf.job_count as (
  queue text, queued int, estimated boolean, scheduled int, more_scheduled boolean, running int,
  head bigint, head_since timestamptz, oldest_since timestamptz);
comment on type qwf.job_count is
  'Jobs of a queue, counted up to a bound. queued: if estimated, the bound or more are queued, and '
  'this is an estimate, never below the bound. scheduled: at least that many if more_scheduled. '
  'head: the first queued job in claim order, which waits since head_since. oldest_since: since '
  'when the one waits that waits longest among the first of each priority and limit.';

create type _qwf.queue_head as (
  limit_by text, run_next boolean, priority int, "position" bigint, id bigint,
  queued_at timestamptz);
comment on type _qwf.queue_head is
  'The first queued job of a priority, of a limit or (null) without one.';

create type _qwf.queued_count as (
  queued int, estimated boolean, head bigint, head_since timestamptz, oldest_since timestamptz);
comment on type _qwf.queued_count is
  'Queued jobs of a queue, counted up to a bound and estimated from there on; the first of them in '
  'claim order; since when the one that waits longest waits.';

-- Counts the jobs of every queue; from `most` queued ones on, it estimates their number. Reads
-- at most `most` queued jobs of each queue (and some 10,000 more if it estimates), `most`
-- scheduled jobs in all, and the running ones, however many wait. The plan is pinned, because
-- statistics taken when little was queued lead to a scan of everything that is queued now.
-- Counts of running and scheduled jobs are joined by hash, so that the time is in proportion to
-- the number of queues.
create function qwf.count_jobs(most int default 10001) returns setof qwf.job_count
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_nestloop = off
set max_parallel_workers_per_gather = 0
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  if coalesce(count_jobs.most not between 1 and 1000000, true) then
    raise exception using errcode = 'QW005', message = 'invalid bound',
      detail = format('most %s', count_jobs.most), hint = 'give a number from 1 to 1000000';
  end if;
  return query
  with running (queue, jobs) as (
    select j.queue, count(*) from qwf.jobs j where j.status = 'running' group by j.queue
  ), due as materialized (  -- no index has the queue of scheduled jobs
    select j.queue from qwf.jobs j
    where j.status = 'scheduled' order by j.finished_at, j.run_at limit count_jobs.most
  ), scheduled (queue, jobs) as (
    select d.queue, count(*) from due d group by d.queue
  )
  select
    q.name, w.queued, w.estimated, coalesce(s.jobs, 0)::int,
    (select count(*) = count_jobs.most from due), coalesce(r.jobs, 0)::int,
    w.head, w.head_since, w.oldest_since
  from qwf.queues q
  cross join lateral _qwf.count_queued(q.name, count_jobs.most) w
  left join scheduled s on s.queue = q.name
  left join running r on r.queue = q.name;
end $$;
comment on function qwf.count_jobs is
  'Counts the jobs of every queue, below `most` queued ones each and `most` scheduled ones in all. '
  'If more are queued it estimates how many, so that a deep queue costs no more than a short one. '
  'QW005 for an invalid bound.';
call _qwf.allow('qwf.count_jobs', 'qwf_viewer');

-- Counts the queued jobs of a queue, estimates them if they are p_most or more, and finds the
-- first in claim order. Those of a task that is held back do not count. Reads at most p_most
-- jobs besides the heads and those of _estimate_queued, however many are queued and whatever the
-- statistics say, with the settings of count_jobs. Counts from the end of an index: the entries
-- that claims leave behind while somebody holds a snapshot lie at its start. A queue with few
-- jobs reads them once, because there may be thousands of queues.
create function _qwf.count_queued(p_queue text, p_most int) returns _qwf.queued_count
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_few constant int := 20;
  v_heads _qwf.queue_head[] := array(
    select (null, j.run_next, j.priority, j.position, j.id, j.queued_at)::_qwf.queue_head
    from qwf.jobs j
    where j.queue = p_queue and j.status = 'queued' and j.limit_by is null
    order by j.run_next, j.priority desc, j.position desc
    limit v_few + 1);
  v_count _qwf.queued_count := (cardinality(v_heads), false, null, null, null);
begin
  if v_count.queued > least(v_few, p_most - 1) or exists (
      select from qwf.jobs j
      where j.queue = p_queue and j.status = 'queued' and j.limit_by is not null
        and j.limit_place is null)
    or exists (select from _qwf.next_band(p_queue, null))
  then
    v_heads := array(select h from _qwf.queue_heads(p_queue) h);
    v_count.queued := (
      select count(*) from (
        select from qwf.jobs j
        where j.queue = p_queue and j.status = 'queued' and j.limit_by is null
        order by j.run_next, j.priority desc, j.position desc
        limit p_most) free);
    v_count.queued := v_count.queued + (
      select count(*) from (
        select from qwf.jobs j
        where j.queue = p_queue and j.status = 'queued' and j.limit_by is not null
          and j.limit_place is null
        order by j.limit_by desc, coalesce(j.limit_by, j.required_model) desc, j.run_next,
          j.priority desc, j.position desc
        limit p_most - v_count.queued) limited);
    v_count.queued := v_count.queued + (
      select count(*) from (
        select from qwf.jobs j
        where _qwf.line_of(j) = p_queue and j.limit_place is not null
          and j.status in ('queued', 'running')
        order by _qwf.line_of(j) desc, _qwf.band_of(j) desc, j.limit_place desc, j.position desc
        limit p_most - v_count.queued) keyed);
    v_count.estimated := v_count.queued = p_most;
    if v_count.estimated then
      v_count.queued := greatest(p_most,
        coalesce(_qwf.estimate_queued(p_queue, v_heads), 0) + _qwf.estimate_line(p_queue, p_most));
    end if;
  elsif v_count.queued > 1 then  -- the first of each priority, as queue_heads finds them
    v_heads := array(
      select distinct on (h.run_next, h.priority) h
      from unnest(v_heads) h order by h.run_next desc, h.priority, h.position);
  end if;
  if v_count.queued > 0 then
    select h.id, h.queued_at, min(h.queued_at) over ()
    into v_count.head, v_count.head_since, v_count.oldest_since
    from unnest(v_heads) h
    order by h.run_next desc, h.priority, h.position limit 1;
    v_count := _qwf.without_held(p_queue, v_count);
  end if;
  return v_count;
end $$;

-- Returns the first queued job of each priority of a queue, without a limit, of each limit, and
-- of each key of a limit. Jumps along an index from one priority to the next, at most 100
-- without a limit, 100 of limits and 100 of keys, and so reads a few hundred jobs however many
-- are queued. With the settings of count_jobs. PL/pgSQL keeps its plan: before Postgres 18 a
-- function in SQL is planned again in each call, which took 4 ms for each queue.
create function _qwf.queue_heads(p_queue text) returns setof _qwf.queue_head
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  with recursive free (run_next, priority, "position", id, queued_at) as (
    (select j.run_next, j.priority, j.position, j.id, j.queued_at from qwf.jobs j
    where j.queue = p_queue and j.status = 'queued' and j.limit_by is null
    order by j.run_next desc, j.priority, j.position limit 1)
    union all
    select n.* from free f
    cross join lateral (
      (select j.run_next, j.priority, j.position, j.id, j.queued_at from qwf.jobs j
      where j.queue = p_queue and j.status = 'queued' and j.limit_by is null
        and j.run_next = f.run_next and j.priority > f.priority
      order by j.run_next desc, j.priority, j.position limit 1)
      union all
      (select j.run_next, j.priority, j.position, j.id, j.queued_at from qwf.jobs j
      where j.queue = p_queue and j.status = 'queued' and j.limit_by is null
        and f.run_next and not j.run_next
      order by j.run_next desc, j.priority, j.position limit 1)
      limit 1) n
  ), limited (name, run_next, priority, "position", id, queued_at) as (
    (select j.limit_by, j.run_next, j.priority, j.position, j.id, j.queued_at from qwf.jobs j
    where j.queue = p_queue and j.status = 'queued' and j.limit_by is not null
      and j.limit_place is null
    order by j.limit_by, coalesce(j.limit_by, j.required_model), j.run_next desc,
      j.priority, j.position limit 1)
    union all
    select n.* from limited l
    cross join lateral (
      (select j.limit_by, j.run_next, j.priority, j.position, j.id, j.queued_at from qwf.jobs j
      where j.queue = p_queue and j.status = 'queued' and j.limit_by = l.name
        and j.limit_place is null
        and coalesce(j.limit_by, j.required_model) = l.name
        and j.run_next = l.run_next and j.priority > l.priority
      order by j.limit_by, j.run_next desc, j.priority, j.position limit 1)
      union all
      (select j.limit_by, j.run_next, j.priority, j.position, j.id, j.queued_at from qwf.jobs j
      where j.queue = p_queue and j.status = 'queued' and j.limit_by = l.name
        and j.limit_place is null
        and coalesce(j.limit_by, j.required_model) = l.name
        and l.run_next and not j.run_next
      order by j.limit_by, j.run_next desc, j.priority, j.position limit 1)
      union all
      (select j.limit_by, j.run_next, j.priority, j.position, j.id, j.queued_at from qwf.jobs j
      where j.queue = p_queue and j.status = 'queued' and j.limit_by > l.name
        and j.limit_place is null
      order by j.limit_by, coalesce(j.limit_by, j.required_model), j.run_next desc,
        j.priority, j.position limit 1)
      limit 1) n
  )
  (select null, f.* from free f limit 100)
  union all
  (select l.* from limited l limit 100)
  union all
  (select h.* from _qwf.line_heads(p_queue, 100) h);
end $$;

-- Returns the first job of each of the first keys in the line of a queue. One probe of
-- jobs_keyed for each key. With the settings of count_jobs.
create function _qwf.line_heads(p_queue text, p_most int) returns setof _qwf.queue_head
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
  with recursive keyed (band, place, name, run_next, priority, "position", id, queued_at) as (
    (select _qwf.band_of(j), j.limit_place, j.limit_by, j.run_next, j.priority, j.position, j.id,
        j.queued_at from qwf.jobs j
    where _qwf.line_of(j) = p_queue and j.limit_place is not null
      and j.status in ('queued', 'running')
    order by _qwf.line_of(j), _qwf.band_of(j), j.limit_place, j.position limit 1)
    union all
    select n.* from keyed k
    cross join lateral (
      select _qwf.band_of(j), j.limit_place, j.limit_by, j.run_next, j.priority, j.position, j.id,
        j.queued_at from qwf.jobs j
      where _qwf.line_of(j) = p_queue and (_qwf.band_of(j), j.limit_place) > (k.band, k.place)
        and j.limit_place is not null and j.status in ('queued', 'running')
      order by _qwf.line_of(j), _qwf.band_of(j), j.limit_place, j.position limit 1) n
  )
  select k.name, k.run_next, k.priority, k.position, k.id, k.queued_at from keyed k limit p_most;
end $$;

-- Estimates how many jobs of a queue are queued, from samples of its claim indexes. Divides the
-- positions between the first and the last job of each priority into equal parts, about 50 of
-- them in all. Reads at most 200 jobs at the start of each part: if that is the whole part it is
-- counted, else it is as full as its start. So it reads 10,000 jobs (20,000 with 100
-- priorities), however many are queued. Jobs that were put back at the front, below position
-- 0, are one more part of their priority. Jobs that came in bursts, with long gaps of jobs of
-- other queues, can be estimated at twice their number and more. With the settings of
-- count_jobs.
create function _qwf.estimate_queued(p_queue text, p_heads _qwf.queue_head[]) returns int
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with band as (
    select h.limit_by, h.run_next, h.priority, greatest(h.position, s.low) as first,
      l.position as last, case when s.low < 0 then 1
        else greatest(50 / cardinality(p_heads), 1) end as parts
    from unnest(p_heads) h
    cross join (
      values (-9223372036854775808, -1), (0, 9223372036854775807)) s (low, high)
    cross join lateral (
      (select j.position from qwf.jobs j
      where h.limit_by is null and j.queue = p_queue and j.status = 'queued'
        and j.limit_by is null and j.run_next = h.run_next and j.priority = h.priority
        and j.position between s.low and s.high
      order by j.run_next, j.priority desc, j.position desc limit 1)
      union all
      (select j.position from qwf.jobs j
      where j.queue = p_queue and j.status = 'queued' and j.limit_by = h.limit_by
        and j.limit_place is null
        and coalesce(j.limit_by, j.required_model) = h.limit_by
        and j.run_next = h.run_next and j.priority = h.priority
        and j.position between s.low and s.high
      order by j.limit_by desc, j.run_next, j.priority desc, j.position desc limit 1)) l
  ), part as (
    select b.limit_by, b.run_next, b.priority,
      b.first + (b.last + 1 - b.first) * n / b.parts as start,
      b.first + (b.last + 1 - b.first) * (n + 1) / b.parts as beyond
    from band b
    cross join lateral generate_series(0, b.parts - 1) n
  )
  select round(sum(case when s.jobs < 200 then s.jobs
    else s.jobs::float8 * (p.beyond - p.start) / (s.last + 1 - p.start) end))::int
  from part p
  cross join lateral (
    select count(*) as jobs, max(w.position) as last
    from (
      (select j.position from qwf.jobs j
      where p.limit_by is null and j.queue = p_queue and j.status = 'queued'
        and j.limit_by is null and j.run_next = p.run_next and j.priority = p.priority
        and j.position >= p.start and j.position < p.beyond
      order by j.run_next desc, j.priority, j.position limit 200)
      union all
      (select j.position from qwf.jobs j
      where j.queue = p_queue and j.status = 'queued' and j.limit_by = p.limit_by
        and j.limit_place is null
        and coalesce(j.limit_by, j.required_model) = p.limit_by
        and j.run_next = p.run_next and j.priority = p.priority
        and j.position >= p.start and j.position < p.beyond
      order by j.limit_by, j.run_next desc, j.priority, j.position limit 200)) w) s
$$;

-- Estimates how many jobs wait in the line of a queue. Counts up to p_most; beyond that it takes
-- what vacuum and analyze last found in the lines of all queues.
create function _qwf.estimate_line(p_queue text, p_most int) returns int
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_count int := (
    select count(*) from (
      select from qwf.jobs j
      where _qwf.line_of(j) = p_queue and j.limit_place is not null
        and j.status in ('queued', 'running')
      order by _qwf.line_of(j) desc, _qwf.band_of(j) desc, j.limit_place desc, j.position desc
      limit p_most) l);
begin
  if v_count < p_most then
    return v_count;
  end if;
  return greatest(p_most, (
    select c.reltuples::int from pg_class c where c.oid = 'qwf.jobs_keyed'::regclass));
end $$;

-- Returns the waiting jobs that stand first in the line of a queue. Three lists one after the
-- other, each with at most max_rows jobs in the order of claim: jobs without a limit, jobs of
-- ordinary limits by limit, and jobs of limits that count by key. Each list is read from its
-- index and reads no more jobs than it returns.
-- Raises: QW005, QW006.
create function qwf.first_in_line(queue text, max_rows int default 20)
returns table (
  job_id bigint, task text, run_id bigint, node_id text, priority int, run_next boolean,
  limit_by text, queued_at timestamptz)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
#variable_conflict use_column
begin
  perform _qwf.check_count('max_rows', first_in_line.max_rows);
  if not exists (select from qwf.queues q where q.name = first_in_line.queue) then
    perform _qwf.raise_unknown_queue(first_in_line.queue);
  end if;
  return query
  select w.id, w.task, w.run_id, w.node_id, w.priority, w.run_next, w.limit_by, w.queued_at
  from (
    (select 1 as list, j.* from qwf.jobs j
    where j.queue = first_in_line.queue and j.status = 'queued' and j.limit_by is null
    order by j.run_next desc, j.priority, j.position limit first_in_line.max_rows)
    union all
    (select 2, j.* from qwf.jobs j
    where j.queue = first_in_line.queue and j.status = 'queued' and j.limit_by is not null
      and j.limit_place is null
    order by j.limit_by, coalesce(j.limit_by, j.required_model), j.run_next desc, j.priority,
      j.position limit first_in_line.max_rows)
    union all
    (select 3, j.* from qwf.jobs j
    where _qwf.line_of(j) = first_in_line.queue and j.limit_place is not null
      and j.status in ('queued', 'running')
    order by _qwf.band_of(j), j.limit_place, j.position limit first_in_line.max_rows)) w
  order by w.list, case when w.list = 2 then w.limit_by end, w.run_next desc, w.priority,
    case when w.list = 3 then w.limit_place end, w.position;
end $$;
comment on function qwf.first_in_line is
  'Returns the waiting jobs that stand first in the line of a queue, in the order of claim: at '
  'most max_rows without a limit, as many of ordinary limits, and as many of limits that count by '
  'key. QW006 for an unknown queue.';
call _qwf.allow('qwf.first_in_line', 'qwf_viewer');

-- Counts the limits for which jobs of a queue wait, up to a bound; not those that count by key.
-- One index probe for each limit.
create function _qwf.waiting_limits(p_queue text, p_most int) returns int
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
as $$
begin
  return (
    with recursive waiting (name) as (
      (select j.limit_by from qwf.jobs j
        where j.queue = p_queue and j.status = 'queued' and j.limit_by is not null
          and j.limit_place is null
        order by j.limit_by limit 1)
      union all
      select (select j.limit_by from qwf.jobs j
        where j.queue = p_queue and j.status = 'queued' and j.limit_by > w.name
          and j.limit_place is null
        order by j.limit_by limit 1)
      from waiting w
      where w.name is not null
    )
    select count(*) from (select from waiting w where w.name is not null limit p_most) l);
end $$;
