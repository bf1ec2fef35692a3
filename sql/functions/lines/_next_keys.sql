-- Deploy qwf:functions/lines/_next_keys
-- Purpose: Finds the next keys of a line that seem to have room and a job that fits the worker.
-- Guarantees: Steps from key to key, one probe of jobs_keyed each, whatever their number of jobs;
--   only a key whose first job does not fit is looked through. Locks nothing, so _pick_of_keys
--   counts again. From p_from (exclusive) to p_to (inclusive). last: the place it has come to;
--   pinned: it has passed a key whose first job waits for another host.
-- Called by: _waiting_keys, _walk_band.

begin;

create function _qwf.next_keys(
  p_round _qwf.round, p_band bigint, p_from bigint, p_to bigint, p_count int,
  out keys _qwf.limit_key[], out last bigint, out steps int, out pinned boolean)
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_line _qwf.line := p_round.line;
  v_queue text := p_round.queue;
  v_worker qwf.workers := p_round.worker;
begin
  with recursive ring (place, name, head, n, fits, pinned) as (
    select p_from, '', null::bigint, 0, false, false
    union all
    select k.place, k.name, k.head, r.n + 1, k.fits, (r.pinned or k.host and not k.fits) is true
    from ring r
    left join lateral (
      select s.place, s.position from unnest(v_line.skips) s
      where v_line.skips is not null and s.band = p_band and s.low <= r.place and r.place < s.place
      limit 1) s on true
    left join lateral (  -- null: there is no further key
      select j.limit_place as place, j.limit_by as name, j.position as head,
        j.requires ? 'host' as host,
        (j.light or not p_round.light) and _qwf.fits(j, v_worker, p_round.now) as fits
      from qwf.jobs j
      where _qwf.line_of(j) = v_queue and _qwf.band_of(j) = p_band
        and (j.limit_place, j.position) > (
          coalesce(s.place, r.place), coalesce(s.position - 1, 9223372036854775807))
        and j.limit_place <= p_to and j.status in ('queued', 'running')
      order by j.limit_place, j.position
      limit 1) k on true
    where r.n < p_round.steps and r.name is not null
  ), looked as (
    select r.place, r.name, r.head, r.n, r.pinned, l.max_running, l.starts, l.per,
      l.name is not null
      and (l.starts is null or coalesce(p_round.startable > 0, true) and not exists (
        select from qwf.limit_keys o
        where o.name = r.name and o.starts[l.starts] > p_round.now - l.per))
      and (r.fits or exists (
        select from qwf.jobs j
        where _qwf.line_of(j) = v_queue and _qwf.band_of(j) = p_band and j.limit_place = r.place
          and j.position > r.head and j.status in ('queued', 'running') and j.limit_by = r.name
          and (j.light or not p_round.light) and _qwf.fits(j, v_worker, p_round.now)))
      and (select count(*) from (  -- as in _pick_of_keys
        select from qwf.jobs j
        where _qwf.line_of(j) is null and _qwf.band_of(j) is null and j.limit_place = r.place
          and j.position >= coalesce((select max(f.position) from unnest(v_line.floors) f
            where f.place = r.place), -9223372036854775808)
          and j.limit_by = r.name and j.status in ('queued', 'running')
        limit l.max_running) c) < l.max_running as good
    from ring r
    left join qwf.limits l on l.name = split_part(r.name, ':', 1) and l.keyed
    where r.n > 0
  ), found as (
    select f.* from looked f
    where f.good or f.n = p_round.steps or f.place is null limit p_count
  )
  select
    coalesce(array_agg((f.place, f.name, f.head, f.max_running, f.starts, f.per)::_qwf.limit_key
      order by f.n) filter (where f.good), '{}'),
    case when bool_or(f.place is null) then p_to else max(f.place) end,
    max(f.n), coalesce(bool_or(f.pinned), false)
    into keys, last, steps, pinned
  from found f;
end $$;

commit;
