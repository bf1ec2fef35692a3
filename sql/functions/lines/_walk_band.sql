-- Deploy qwf:functions/lines/_walk_band
-- Purpose: Picks jobs of a band of a line, key by key, from the turn of the line round to it.
-- Guarantees: Gives each key its share, and what is left then to the same keys. Counts the running
--   jobs of a key under its lock only. Locks at most 100 keys, and those only that seem to have
--   room and a job: so a claim that stays open delays few other keys.
-- Locks: the row of the key in hash_locks, tried only; queued jobs that nobody else has locked.
-- Called by: _walk_line.

begin;

create function _qwf.walk_band(p_round _qwf.round, p_band bigint, p_count int)
returns _qwf.round
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_round _qwf.round := p_round;
  v_part int := 1;  -- from the turn to the end, then from the beginning to the turn
  v_from bigint := p_round.at;
  v_want int;
  v_next record;
  v_keys _qwf.limit_key[];
  v_held _qwf.limit_key[] := '{}';
begin
  loop
    v_want := least(p_count - cardinality(v_round.jobs), 100 - cardinality(v_round.keys));
    exit when v_want <= 0 or v_part > 2 or v_round.steps <= 0;
    v_keys := '{}';
    loop
      v_next := _qwf.next_keys(v_round, p_band, v_from, case v_part when 1
        then 9223372036854775807 else v_round.at end, v_want - cardinality(v_keys));
      v_keys := v_keys || v_next.keys;
      v_from := v_next.last;
      v_round.steps := v_round.steps - v_next.steps;
      v_round.looked := v_round.looked + v_next.steps;
      v_round.pinned := v_round.pinned or v_next.pinned;
      if v_next.gaps <> '{}' then
        v_round.line.skips := (v_next.gaps || (v_round.line).skips)[: 50];
      end if;
      exit when cardinality(v_keys) = v_want or v_round.steps <= 0;
      v_part := v_part + 1;
      v_from := -9223372036854775808;
      exit when v_part > 2;
    end loop;
    v_keys := array(select k from unnest(v_keys) k
        where k.starts is null and (select true from _qwf.hash_locks h
          where h.number = k.place & 16383 for update skip locked))
      || array(select k from unnest(v_keys) k
        where k.starts is not null and (select true from _qwf.hash_locks h
          where h.number = k.place & 16383 for update skip locked)
        limit v_round.startable);
    continue when v_keys = '{}';
    v_round := _qwf.pick_of_keys(v_round, p_band, v_keys,
      (v_want + cardinality(v_keys) - 1) / cardinality(v_keys), v_want);
    v_round.keys := v_round.keys || v_keys;
    v_held := v_held || v_keys;
  end loop;
  if cardinality(v_round.jobs) > cardinality(p_round.jobs) then
    v_round.last := (select j.limit_place from qwf.jobs j
      where j.ctid = (v_round.jobs[cardinality(v_round.jobs)]).row);
  elsif p_round.jobs = '{}' then
    v_round.last := case when v_part > 2 then v_round.at else v_from end;
  end if;
  if cardinality(v_round.jobs) < p_count and v_held <> '{}' then
    v_want := p_count - cardinality(v_round.jobs);
    v_round := _qwf.pick_of_keys(v_round, p_band, v_held, v_want, v_want);
  end if;
  return v_round;
end $$;

commit;
