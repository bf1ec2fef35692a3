-- Deploy qwf:functions/lines/_pick_of_keys
-- Purpose: Picks jobs of keys that this claim has locked, in claim order within each, and returns
--   the round with them.
-- Guarantees: Counts the running jobs in a statement that began under the locks, so the counts are
--   exact: a claim that starts a job of the key holds the lock until its transaction ends. A claim
--   gives a job its position under the lock, from a sequence. So no job of the key that runs lies
--   below a floor, now or later, whatever the clock does; and the floor spares the walk over the
--   entries of jobs that ended while somebody holds a snapshot. What this claim has picked before
--   counts, too, for places and for starts. Picks no more jobs of limits with a rate than the round
--   may; once it has those, the round looks at 32 further keys only.
-- Locks: queued jobs that nobody else has locked.
-- Called by: _pick_recent, _walk_band, _walk_line.

begin;

create function _qwf.pick_of_keys(
  p_round _qwf.round, p_band bigint, p_keys _qwf.limit_key[], p_each int, p_count int)
returns _qwf.round
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_round _qwf.round := p_round;
  v_line _qwf.line := p_round.line;
  v_worker qwf.workers := p_round.worker;
  v_ids bigint[] := array(select p.id from unnest(p_round.jobs) p);
begin
  select p_round.jobs || coalesce(array_agg(f.job), '{}'),
    p_round.startable - count(*) filter (where f.rated)
    into v_round.jobs, v_round.startable
  from (
    select c.job, c.rated
    from (
      select picked.job, k.starts > 0 as rated,
        count(*) filter (where k.starts > 0) over (rows unbounded preceding) as nth
      from unnest(p_keys) with ordinality k (place, name, head, max_running, starts, per, nth)
      cross join lateral (
        select count(*)::int as n from unnest(v_ids) i
        where (select j.limit_by from qwf.jobs j where j.id = i) = k.name) own
      cross join lateral (
        select (j.ctid, j.id, j.run_id, null, null,
          j.once or j.key_state = 'w' or j.expires_at is not null or j.begun is not null,
          null, null)::_qwf.picked as job
        from qwf.jobs j
        where _qwf.line_of(j) = p_round.queue and _qwf.band_of(j) = p_band
          and j.limit_place = k.place and j.position >= k.head and j.status in ('queued', 'running')
          and j.limit_by = k.name and j.id <> all (v_ids) and (j.light or not p_round.light)
          and _qwf.fits(j, v_worker, p_round.now)
        order by j.position
        limit least(p_each, case when k.starts > 0 then p_round.startable end, greatest(0,
          - own.n + least(k.max_running - (select count(*) from (
            -- both states: written so as not to use another index of running jobs
            select from qwf.jobs r
            where _qwf.line_of(r) is null and _qwf.band_of(r) is null and r.limit_place = k.place
              and r.position >= coalesce((select max(f.position) from unnest(v_line.floors) f
                where f.place = k.place), -9223372036854775808)
              and r.limit_by = k.name and r.status in ('queued', 'running')
            limit k.max_running) c),
          k.starts - (  -- null: any number
            select count(*) from qwf.limit_keys s cross join lateral unnest(s.starts) u
            where s.name = k.name and u > p_round.now - k.per))))
        for no key update skip locked) picked
    ) c
    where coalesce(not c.rated or c.nth <= p_round.startable, true)
    limit p_count
  ) f;
  if v_round.startable = 0 and p_round.startable > 0 then
    v_round.steps := least(v_round.steps, 32);
  end if;
  return v_round;
end $$;

commit;
