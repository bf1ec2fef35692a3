-- Counts per hour, and load per minute. Locks: roll_up, tried only.

-- Writes the history that charts show: the load of the queues, once in each minute, and of the
-- hosts, for each minute that has ended. Reads one index entry if this minute is written
-- already. One caller at a time, so that two ticks write a minute once and none waits for the
-- row of another. A tick that comes late takes the samples that are left; a minute that nobody
-- looked at gets no row.
-- Locks: roll_up, tried only.
create function _qwf.record_minutes() returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_minute timestamptz := date_bin('1 minute', v_now, 'epoch');
begin
  -- _roll_up_counts writes rows of this minute too, but not how many jobs are queued
  if exists (
      select from qwf.queue_minutes m where m.minute = v_minute and m.queued is not null)
    or not _qwf.try_lock('roll_up')
  then
    return 0;
  end if;
  return _qwf.record_queues(v_minute, v_now) + _qwf.record_hosts(v_minute);
end $$;

-- Writes how many jobs of each queue are queued and running, and how long the first one has
-- waited. Counts 10,000 queued jobs and estimates more, and follows the claim indexes, so that a
-- long queue and old statistics cost nothing. The time is in proportion to the number of queues.
-- Leaves a minute that is written already as it is.
create function _qwf.record_queues(p_minute timestamptz, p_now timestamptz) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_nestloop = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_count int;
begin
  insert into qwf.queue_minutes as m (queue, minute, queued, running, head_wait_seconds)
  select q.name, p_minute, c.queued, coalesce(r.jobs, 0),
    case when c.queued > 0 then greatest(date_part('epoch', p_now - c.head_since), 0) end
  from qwf.queues q
  cross join lateral _qwf.count_queued(q.name, 10001) c
  left join (
    select j.queue, count(*) as jobs from qwf.jobs j where j.status = 'running' group by j.queue
  ) r on r.queue = q.name
  where not starts_with(q.name, 'qwf.')
  on conflict (queue, minute) do update set
    queued = excluded.queued, running = excluded.running,
    head_wait_seconds = excluded.head_wait_seconds
  where m.queued is null;
  get diagnostics v_count = row_count;
  return v_count;
end $$;

-- Writes the average and the highest load of each host for each minute that has ended and is not
-- written yet. Reads only samples after the last minute that is written. A minute without a
-- sample gets no row; a minute that is written stays as it is. Of cards it takes 64 at most, the
-- first of a sample first, and leaves out numbers that no card has.
create function _qwf.record_hosts(p_minute timestamptz) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
declare
  v_last timestamptz := (
    select max(h.minute) from qwf.host_minutes h where h.minute < p_minute);
  v_from timestamptz := (
    select greatest(v_last + interval '1 min', p_minute - s.minutes_keep) from qwf.settings s);
  v_count int;
begin
  with sampled as materialized (
    select m.host, date_bin('1 minute', m.sampled_at, 'epoch') as minute, count(*) as samples,
      avg(m.cpu_percent) as cpu, max(m.cpu_percent) as cpu_max, avg(m.cpu_ours_percent) as cpu_ours,
      avg(m.ram_percent) as ram, max(m.ram_percent) as ram_max, avg(m.ram_used_mb) as ram_mb,
      max(m.ram_total_mb) as ram_total_mb, avg(m.ram_ours_used_mb) as ram_ours_mb,
      avg(m.swap_used_mb) as swap_mb, max(m.swap_used_mb) as swap_mb_max
    from qwf.host_metrics m
    where m.sampled_at >= v_from and m.sampled_at < p_minute
    group by 1, 2
  )
  insert into qwf.host_minutes (
    host, minute, samples, cpu_percent, cpu_percent_max, cpu_ours_percent, ram_percent,
    ram_percent_max, ram_used_mb, ram_total_mb, ram_ours_used_mb, swap_used_mb, swap_used_mb_max,
    gpu_percent, gpu_percent_max, vram_used_mb, vram_total_mb, gpus)
  select
    s.host, s.minute, s.samples, s.cpu, s.cpu_max, s.cpu_ours, s.ram, s.ram_max, s.ram_mb,
    s.ram_total_mb, s.ram_ours_mb, s.swap_mb, s.swap_mb_max, c.*, g.gpus
  from sampled s
  cross join lateral (  -- agents send what they like as a card: 64, and what a number may be
    select (
      select coalesce(jsonb_agg(to_jsonb(c) - 'place' order by c.place, c.id), '[]')
      from (
        select u.id, min(u.place) as place,
          round(avg(u.use), 1) as use_pct, max(u.use) as use_pct_max,
          round(avg(u.vram_used)) as vram_used_mb, max(u.vram_used) as vram_used_mb_max,
          max(u.vram_total) as vram_total_mb
        from (
          select g.place, coalesce(
              to_jsonb(_qwf.as_number(g.card -> 'id')::bigint),
              to_jsonb(left(g.card ->> 'id', 100)), 'null') as id,
            round(_qwf.as_number(g.card -> 'use_pct', 1000), 1) as use,
            _qwf.as_number(g.card -> 'vram_used_mb', 16777216)::int as vram_used,
            _qwf.as_number(g.card -> 'vram_total_mb', 16777216)::int as vram_total
          from qwf.host_metrics m
          cross join lateral jsonb_array_elements(m.gpus) with ordinality g (card, place)
          where m.host = s.host and m.sampled_at >= s.minute
            and m.sampled_at < s.minute + interval '1 min'
            and jsonb_typeof(g.card) = 'object' and g.place <= 64
        ) u
        group by u.id
        order by place, u.id
        limit 64
      ) c) as gpus offset 0) g
  cross join lateral (
    select avg(e.use_pct), max(e.use_pct_max), sum(e.vram_used_mb), sum(e.vram_total_mb)
    from jsonb_to_recordset(g.gpus) e (
      use_pct real, use_pct_max real, vram_used_mb int, vram_total_mb int)
  ) c
  on conflict (host, minute) do nothing;
  get diagnostics v_count = row_count;
  return v_count;
end $$;

-- Rolls up the figures of ended attempts every ten seconds. Stops after 300 ms or 5000 rows, and
-- then goes on soon. Never uses more than a tenth of the time, however many dead rows an old
-- snapshot keeps. Ignores a hint that a clock set back has left in the future, or whose work was
-- rolled back.
create function _qwf.roll_up_statistics() returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_batch constant int := 200;  -- of 200 tasks each takes about 100 ms
  v_now timestamptz := qwf.now();
  v_due timestamptz := (select to_timestamp(n.last_value / 1000.0) from qwf.next_roll_up n);
  v_pause interval;
  v_count int := 0;
  v_last int;
begin
  if v_now < v_due and v_due < v_now + interval '5 min'
    and _qwf.has_committed((select x.last_value from qwf.last_roll_up_xid x))
  then
    return 0;
  end if;
  loop
    v_last := _qwf.roll_up_counts(v_batch);
    v_count := v_count + v_last;
    exit when v_last < v_batch or v_count >= 5000 or qwf.now() - v_now > interval '300 ms';
  end loop;
  v_pause := greatest((qwf.now() - v_now) * 9,
    case when v_last < v_batch then interval '10 s' else interval '0 s' end);
  perform setval('qwf.last_roll_up_xid', pg_current_xact_id()::text::bigint);
  perform setval('qwf.next_roll_up',
    (extract(epoch from v_now + least(v_pause, interval '4 min')) * 1000)::bigint);
  return v_count;
end $$;

-- Adds the figures of ended attempts to their totals, to the hour and the minute they belong to,
-- and to what is usual for their tasks. Each row counts exactly once: the statement that deletes
-- it adds it. One caller at a time, so that nobody ever waits for a row of the tables it adds
-- to.
-- Locks: roll_up, tried only.
create function _qwf.roll_up_counts(p_max int default 5000) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_count int;
begin
  if not _qwf.try_lock('roll_up') then
    return 0;
  end if;
  with taken as (
    delete from qwf.attempt_counts c
    where c.ctid = any (array(select a.ctid from qwf.attempt_counts a limit p_max))
    returning c.minute, c.queue, c.task, c.outcome, c.waits, c.runs
  ), timed as materialized (  -- a clock may have been set back
    select f.minute, date_bin('1 hour', f.minute, 'epoch') as hour, f.queue, f.task, f.outcome,
      greatest(u.wait, 0) as wait, greatest(u.run, 0) as run
    from taken f cross join lateral unnest(f.waits, f.runs) u (wait, run)
  ), counted as (
    insert into qwf.hourly_counts as h (
      hour, queue, task, outcome, count,
      wait_seconds, wait_max, waits, run_seconds, run_max, runs)
    select t.hour, t.queue, t.task, t.outcome, count(*),
      sum(t.wait), max(t.wait), _qwf.histogram(array_agg(t.wait)),
      sum(t.run), max(t.run), _qwf.histogram(array_agg(t.run))
    from timed t group by t.hour, t.queue, t.task, t.outcome
    on conflict (hour, queue, task, outcome) do update set
      count = h.count + excluded.count,
      wait_seconds = h.wait_seconds + excluded.wait_seconds,
      wait_max = greatest(h.wait_max, excluded.wait_max),
      waits = _qwf.add_histograms(h.waits, excluded.waits),
      run_seconds = h.run_seconds + excluded.run_seconds,
      run_max = greatest(h.run_max, excluded.run_max),
      runs = _qwf.add_histograms(h.runs, excluded.runs)
  ), totalled as (
    insert into qwf.attempt_totals as a (
      queue, task, outcome, count, wait_seconds, waits, run_seconds, runs)
    select t.queue, t.task, t.outcome, count(*), sum(t.wait),
      _qwf.histogram(array_agg(t.wait)), sum(t.run), _qwf.histogram(array_agg(t.run))
    from timed t group by t.queue, t.task, t.outcome
    on conflict (queue, task, outcome) do update set
      count = a.count + excluded.count,
      wait_seconds = a.wait_seconds + excluded.wait_seconds,
      waits = _qwf.add_histograms(a.waits, excluded.waits),
      run_seconds = a.run_seconds + excluded.run_seconds,
      runs = _qwf.add_histograms(a.runs, excluded.runs)
  ), learned as (
    select _qwf.merge_usual(array_agg(w.n), 0) from (
      select ('task', t.task, '',  -- only what completed is usual; the last one is the last
        _qwf.histogram(array_agg(t.run) filter (where t.outcome = 'completed')),
        max(t.run) filter (where t.outcome = 'completed'),
        case when bool_or(t.outcome = 'completed') then max(t.minute) end, max(t.minute),
        (array_agg(t.outcome))[count(*)], (array_agg(t.run))[count(*)], null)::_qwf.usual_new as n
      from timed t group by t.task) w
  ), ended as (
    insert into qwf.queue_minutes as m (
      queue, minute, completed, error, fatal, tempfail, lost, released, cancelled)
    select t.queue, t.minute, count(*) filter (where t.outcome = 'completed'),
      count(*) filter (where t.outcome = 'error'), count(*) filter (where t.outcome = 'fatal'),
      count(*) filter (where t.outcome = 'tempfail'), count(*) filter (where t.outcome = 'lost'),
      count(*) filter (where t.outcome = 'released'),
      count(*) filter (where t.outcome = 'cancelled')
    from timed t group by t.queue, t.minute
    on conflict (queue, minute) do update set
      completed = m.completed + excluded.completed, error = m.error + excluded.error,
      fatal = m.fatal + excluded.fatal, tempfail = m.tempfail + excluded.tempfail,
      lost = m.lost + excluded.lost, released = m.released + excluded.released,
      cancelled = m.cancelled + excluded.cancelled
  )
  select count(*) into v_count
  from taken where (select count(*) from learned) >= 0;  -- unread: not run
  return v_count;
end $$;
