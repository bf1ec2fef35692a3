-- Deploy qwf:functions/lines/_pick_recent
-- Purpose: Picks what a session that rests or jumps over parts of a line would find late: jobs
--   among the 64 newest, and jobs of keys whose rate has just opened.
-- Guarantees: In claim order of the bands. The walk goes on with what is still missing.
-- Locks: keys, tried only; queued jobs that nobody else has locked.
-- Called by: _walk_line.

begin;

create function _qwf.pick_recent(p_round _qwf.round, p_count int) returns _qwf.round
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_round _qwf.round := p_round;
  v_recent record;
  v_want int;
begin
  for v_recent in
    with recent as (
      select n.limit_by as name, n.limit_place as place, _qwf.band_of(n) as band,
        n.position as head
      from (select j.* from qwf.jobs j order by j.id desc limit 64) n
      where n.queue = p_round.queue and n.status = 'queued' and n.limit_place is not null
        and (n.light or not p_round.light) and _qwf.fits(n, p_round.worker, p_round.now)
      union all
      select o.name, h.place, h.band, h.head
      from (
        select k.name, hashtextextended(k.name, 0) as place from qwf.limit_keys k
        where k.opens_at between p_round.now - interval '2 s' and p_round.now
        order by k.opens_at desc limit 64) o
      cross join lateral (
        select o.place, _qwf.band_of(j) as band, j.position as head from qwf.jobs j
        where _qwf.line_of(j) = p_round.queue and _qwf.band_of(j) = any (
            coalesce((p_round.line).bands, array[_qwf.next_band(p_round.queue, null, null)]))
          and j.limit_place = o.place and j.status in ('queued', 'running')
        order by j.position limit 1) h
    )
    select r.band, array_agg(
      (r.place, r.name, r.head, l.max_running, l.starts, l.per)::_qwf.limit_key) as keys
    from (select r.band, r.place, r.name, min(r.head) as head from recent r group by 1, 2, 3) r
    join qwf.limits l on l.name = split_part(r.name, ':', 1) and l.keyed
    where not exists (select from qwf.limit_holds h
      where h.name = any (array[l.name, r.name]) and h.until > p_round.now)
    group by r.band order by r.band
  loop
    v_want := p_count - cardinality(v_round.jobs);
    exit when v_want <= 0;
    v_recent.keys := array(select k from unnest(v_recent.keys::_qwf.limit_key[]) k
      where (k.starts is null or coalesce(v_round.startable > 0, true))
        and (select true from _qwf.hash_locks h
          where h.number = k.place & 16383 for update skip locked)
      limit least(v_want, 100 - cardinality(v_round.keys)));
    v_round.keys := v_round.keys || v_recent.keys::_qwf.limit_key[];
    v_round := _qwf.pick_of_keys(v_round, v_recent.band, v_recent.keys, 1, v_want);
  end loop;
  return v_round;
end $$;

commit;
