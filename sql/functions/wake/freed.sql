-- Sleepers woken because a slot, a key or a start is free again. Locks: rows of limit_starts and
-- limit_keys that nobody else has locked.

-- Wakes sleepers of the queues where jobs wait for a limit.
-- Notifies: as many sleepers of each such queue as there are slots or starts.
create function _qwf.wake_for_limit(p_limit text, p_count int) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
begin
  perform _qwf.wake(q.name, p_count)
  from qwf.queues q
  where coalesce(  -- limit 1: exists may be planned to read all of them
      (select p_limit = 'queue:' || q.name from qwf.jobs j
        where j.queue = q.name and j.status = 'queued' and j.limit_by is null limit 1),
      (select p_limit = 'queue:' || q.name from qwf.jobs j
        where j.queue = q.name and j.status = 'queued' and j.limit_by is not null
          and j.limit_place is null limit 1),
      (select p_limit = 'queue:' || q.name from qwf.jobs j
        where _qwf.line_of(j) = q.name and j.limit_place is not null
          and j.status in ('queued', 'running') limit 1))
    or (select true from qwf.jobs j
      where j.queue = q.name and j.status = 'queued' and j.limit_by = p_limit
        and j.limit_place is null limit 1);
end $$;

-- Wakes sleepers of the queues where jobs wait for keys that have got room. Looks only at queues
-- on which somebody sleeps, and at the first 4 bands of their lines.
-- Notifies: as many sleepers of each such queue as there are keys, 16 at most.
create function _qwf.wake_for_keys(p_places bigint[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
declare
  v_queue text;
  v_band bigint;
  v_waiting int;
begin
  for v_queue in select distinct s.queue from qwf.sleepers s loop
    v_band := null;
    for v_nth in 1..4 loop
      v_band := (select b.band from _qwf.next_band(v_queue, v_band) b);
      exit when v_band is null;
      select count(*) into v_waiting
      from (select distinct u from unnest(p_places) u limit 16) p (place)
      where (select true from qwf.jobs j  -- exists may be planned to read all of them
        where _qwf.line_of(j) = v_queue and _qwf.band_of(j) = v_band
          and j.limit_place = p.place and j.status in ('queued', 'running') limit 1);
      if v_waiting > 0 then
        perform _qwf.wake(v_queue, v_waiting);
        exit;
      end if;
    end loop;
  end loop;
end $$;

-- Wakes sleepers of the queues where jobs wait for a limit whose rate has allowed starts again
-- since this was last called, or whose hold is over, which it deletes. Wakes for what was
-- allowed since then, not for starts that nobody has used for longer: those jobs wait for
-- something else. Of keys it looks at 16, and not whether jobs of these keys wait: a sleeper of
-- each queue with a line may look in vain.
-- Locks: holds that are over and that nobody else has locked.
-- Notifies: as many sleepers of each such queue as there are starts, 16 at most.
create function _qwf.wake_for_starts() returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_woken timestamptz := _qwf.last_start_wake(v_now);
  v_count int;
  v_keys int := (
    select count(*) from (
      select from qwf.limit_keys k
      where k.opens_at > v_woken and k.opens_at <= v_now order by k.opens_at limit 16) k);
  v_over text[] := array(
    select h.name from qwf.limit_holds h where h.until <= v_now limit 100
    for update skip locked);
begin
  if v_over <> '{}' then
    delete from qwf.limit_holds h where h.name = any (v_over);
    perform _qwf.wake_for_limit(o, 16) from unnest(v_over) o;
    v_keys := v_keys + 16;
  end if;
  perform _qwf.wake_for_limit(l.name, n.starts)
  from qwf.limits l
  cross join lateral (
    select count(*)::int as starts
    from (
      select from qwf.limit_starts t
      where t.limit_name = l.name and t.used_at > v_woken - l.per and t.used_at <= v_now - l.per
        and t.place <= l.starts
      order by t.used_at
      limit 16) t) n
  where l.starts is not null and n.starts > 0;
  get diagnostics v_count = row_count;
  perform _qwf.wake(s.queue, v_keys)
  from (select distinct z.queue from qwf.sleepers z) s
  where v_keys > 0 and exists (select from _qwf.next_band(s.queue, null));
  perform setval('qwf.last_start_wake', floor(extract(epoch from v_now) * 1000)::bigint)
  where exists (select from qwf.limits l where l.starts is not null);
  return least(v_count + v_keys, 99);
end $$;

-- Returns when sleepers were last woken because rates of limits allowed starts again. Reads a
-- hint. If the clock was set back since, returns -infinity.
create function _qwf.last_start_wake(p_now timestamptz) returns timestamptz
language sql stable
as $$
  select case when w.last_value / 1000.0 <= extract(epoch from p_now)
    then to_timestamp(w.last_value / 1000.0) else '-infinity' end
  from qwf.last_start_wake w
$$;

-- Dates what lies in the future because the clock was set back since, from now on: starts under
-- a rate, leases, signs of life, tasks that are held back. Such a start may be used again one
-- period from now: never too early. A start that was used by a claim at this moment keeps its
-- time. A lease lasts as long as when it was given or renewed, and at least settings.lease; the
-- first tick after the step sees to leases.
-- Locks: these starts, jobs, workers and held tasks, if nobody else has locked them.
create function _qwf.redate_starts() returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_count int;
begin
  with ahead as materialized (
    select t.limit_name, t.place
    from qwf.limits l
    join qwf.limit_starts t on t.limit_name = l.name
    where l.starts is not null and t.used_at > v_now + interval '1 s'
    for no key update of t skip locked
  )
  update qwf.limit_starts t set used_at = qwf.now()
  from ahead a
  where t.limit_name = a.limit_name and t.place = a.place and t.used_at > qwf.now();
  get diagnostics v_count = row_count;
  v_count := v_count + _qwf.redate_keys(v_now);
  if (select l.last_value from qwf.last_tick l) > extract(epoch from v_now) * 1000 + 1000 then
    with ahead as materialized (
      select j.id, j.token, v_now + greatest(j.lease_expires_at - a.alive_at, s.lease) as until
      from qwf.settings s
      cross join qwf.jobs j
      left join qwf.workers w on w.id = j.claimed_by
      cross join lateral (select greatest(j.claimed_at, w.last_seen)) a (alive_at)
      where j.status = 'running' and not starts_with(j.queue, 'qwf.')
        and a.alive_at > v_now + interval '1 s' and j.lease_expires_at > a.alive_at
      order by j.id
      for no key update of j skip locked
    )
    update qwf.jobs j set lease_expires_at = least(j.lease_expires_at, a.until)
    from ahead a
    where j.id = a.id and j.token = a.token;
    update qwf.workers w set last_seen = v_now
    from (
      select l.id from qwf.workers l where l.last_seen > v_now for no key update skip locked
    ) ahead
    where w.id = ahead.id;
    update qwf.held_tasks h set until = v_now + (h.until - h.crashed_at), crashed_at = v_now
    from (
      select l.queue, l.task from qwf.held_tasks l
      where l.crashed_at > v_now for no key update skip locked
    ) ahead
    where (h.queue, h.task) = (ahead.queue, ahead.task);
  end if;
  return least(v_count, 99);
end $$;

-- Dates starts of keys that were used in the future from now on: the clock was set back since,
-- and nothing could start until it had come so far again. Such a start may be used again one
-- period from now: never too early. At most 1000 keys; one that a claim has locked is left for
-- the next call.
-- Locks: the row of the key in hash_locks, tried only; rows of limit_keys.
create function _qwf.redate_keys(p_now timestamptz) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
as $$
declare
  v_count int;
begin
  with ahead as materialized (
    select k.name, l.per, l.starts as allowed
    from (
      select o.name from qwf.limit_keys o
      where o.ends_at > p_now + interval '10 ms' order by o.ends_at desc limit 1000) k
    join qwf.limits l on l.name = split_part(k.name, ':', 1) and l.keyed and l.starts is not null
    join qwf.limit_keys o on o.name = k.name
    where o.starts[1] > p_now + interval '1 s'
      and (select true from _qwf.hash_locks h
        where h.number = hashtextextended(k.name, 0) & 16383 for update skip locked)
  )
  update qwf.limit_keys k set
    starts = array(select least(s, p_now) from unnest(k.starts) s order by 1 desc),
    opens_at = case when cardinality(k.starts) >= a.allowed
      then least(k.starts[a.allowed], p_now) + a.per else p_now end,
    ends_at = p_now + a.per
  from ahead a where k.name = a.name;
  get diagnostics v_count = row_count;
  return v_count;
end $$;
