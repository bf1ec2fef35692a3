-- Deploy qwf:functions/lines/_next_keys
-- Purpose: Finds the next keys of a line that seem to have room and a job that fits the worker.
-- Guarantees: Steps from a job that fits to the next key, as _ring_of_keys does; steps counts as n
--   does there. Locks nothing, so _pick_of_keys counts again. From p_from (exclusive) to p_to
--   (inclusive). last: the place it has come to; pinned: it has passed a job that waits for another
--   host; gaps: the parts that it has passed with more than 200 jobs and none that fits, as skips.
--   A walk for light jobs alone finds no gaps, and none holds a job of another host: who jumps over
--   it would move the turns of all, see _store_turn_apart.
-- Called by: _waiting_keys, _walk_band.

begin;

create function _qwf.next_keys(
  p_round _qwf.round, p_band bigint, p_from bigint, p_to bigint, p_count int,
  out keys _qwf.limit_key[], out last bigint, out steps int, out pinned boolean,
  out gaps _qwf.line_skip[])
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_line _qwf.line := p_round.line;
  v_queue text := p_round.queue;
  v_worker qwf.workers := p_round.worker;
begin
  with recursive ring (place, after, name, head, n, good, pinned, low, since) as (
    select p_from, 9223372036854775807, '', null::bigint, 0, true, false, p_from, 0
    union all
    select k.place, coalesce(k.after, 9223372036854775807), k.name, k.head,
      r.n + coalesce(k.weight, 1), k.good, (r.pinned or k.pins) is true,
      case when r.good or r.pinned then r.place else r.low end,
      case when r.good or r.pinned then r.n else r.since end
    from ring r
    left join lateral (
      select s.place, s.position - 1 as after from unnest(v_line.skips) s
      where v_line.skips is not null and s.band = p_band and r.place < s.place
        and s.low <= case when r.after = 9223372036854775807 then r.place else r.place - 1 end
      limit 1) s on true
    left join lateral _qwf.next_fit(v_queue, p_band, coalesce(s.place, r.place),
      coalesce(s.after, r.after), p_to, v_worker, p_round.now, p_round.light, r.pinned)
      k on true  -- null: there is no further key
    where r.n < p_round.steps and r.name is not null
  ), looked as (
    select r.place, r.name, r.head, r.n, r.pinned, r.low, r.since, l.max_running, l.starts, l.per,
      l.name is not null
      and (l.starts is null or coalesce(p_round.startable > 0, true) and not exists (
        select from qwf.limit_keys o
        where o.name = r.name and o.starts[l.starts] > p_round.now - l.per))
      and r.good
      and (select count(*) from (  -- as in _pick_of_keys
        select from qwf.jobs j
        where _qwf.line_of(j) is null and _qwf.band_of(j) is null and j.limit_place = r.place
          and j.position >= coalesce((select max(f.position) from unnest(v_line.floors) f
            where f.place = r.place), -9223372036854775808)
          and j.limit_by = r.name and j.status in ('queued', 'running')
        limit l.max_running) c) < l.max_running
      and not exists (select from qwf.limit_holds h
        where h.name = any (array[l.name, r.name]) and h.until > p_round.now) as good
    from ring r
    left join qwf.limits l on l.name = split_part(r.name, ':', 1) and l.keyed
    where r.n > 0
  ), found as (
    select f.* from looked f
    where f.good or f.n >= p_round.steps or f.place is null limit p_count
  )
  select
    coalesce(array_agg((f.place, f.name, f.head, f.max_running, f.starts, f.per)::_qwf.limit_key
      order by f.n) filter (where f.good), '{}'),
    case when bool_or(f.place is null) then p_to else max(f.place) end,
    max(f.n), coalesce(bool_or(f.pinned), false),
    coalesce(array_agg((p_band, f.low, coalesce(f.place, p_to),
        coalesce(f.head, 9223372036854775807))::_qwf.line_skip)
      filter (where f.n - f.since > 64 and not p_round.light), '{}')
    into keys, last, steps, pinned, gaps
  from found f;
end $$;

commit;
