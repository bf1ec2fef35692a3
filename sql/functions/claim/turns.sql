-- Turns of keys, shared by all sessions.

create type _qwf.turn as (owner bigint, slot int, shared bigint, own bigint);
comment on type _qwf.turn is
  'Where a claim goes on in the line of a queue. owner: as in turn_owner_0; slot: the number of '
  'the sequence that keeps it for all sessions, null: none is free; shared: what that held; own: '
  'the place that counts instead, because this session keeps one of its own.';

-- Returns where a claim goes on in a line: after the key that was served last. If this session
-- keeps a place of its own, that counts: see _store_turn. One expression without a pinned
-- search_path, as _turn_owner.
create function _qwf.read_turn(p_owner bigint, p_slot int) returns _qwf.turn
language sql volatile
as $$
  select (p_owner, p_slot, pg_sequence_last_value(('_qwf.turn_place_' || p_slot)::regclass),
    case when p_slot is null or current_setting('qwf.turn_' || (p_owner >> 32), true) <> ''
      then _qwf.own_turn(p_owner) end)::_qwf.turn
$$;

-- Returns the place in a line that a session keeps for itself; anywhere if it keeps none. Anyone
-- may change the setting, so it decides nothing but where a round begins. Never raises.
create function _qwf.own_turn(p_owner bigint) returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_kept text := current_setting('qwf.turn_' || (p_owner >> 32), true);
begin
  if v_kept ~ '^-?[0-9]{1,19}$' then
    return greatest(-9223372036854775807, least(9223372036854775806, v_kept::numeric));
  end if;
  return hashtextextended(random()::text, 0);
end $$;

-- Returns who shares the turns of a line, and the minute: 31 bits of a hash, then 32 bits. The
-- sessions share them by queue and by what their workers can run. What fits one of them fits the
-- others, so none leads the others past keys that are theirs; but for jobs that require a host:
-- see _store_turn. One expression without a pinned search_path, which would cost a claim more
-- than all this.
create function _qwf.turn_owner(
  p_queue text, p_worker qwf.workers, p_light_only boolean, p_now timestamptz)
returns bigint
language sql stable
as $$
  select ((hashtextextended(p_queue, case when p_light_only then 1 else 0 end)
      # coalesce(hashtextextended(p_worker.project, 2), 2)
      # coalesce(hash_array_extended(p_worker.tasks, 3), 3)
      # coalesce(hash_array_extended(p_worker.models, 4), 4)
      # coalesce(hashint4extended(p_worker.vram_mb, 5), 5)
      # coalesce(jsonb_hash_extended(p_worker.labels - 'host', 6), 6)) & 2147483647) << 32
    | (date_part('epoch', p_now) / 60)::bigint
$$;

-- Returns the number of the sequence that keeps the turns of an owner; null: none is free. As a
-- rule the first that it looks at, asked for in this minute. One expression without a pinned
-- search_path, as _turn_owner.
create function _qwf.turn_slot(p_owner bigint) returns int
language sql volatile
as $$
  select case when p_owner = pg_sequence_last_value(
      ('_qwf.turn_owner_' || (p_owner >> 32 & 15))::regclass)
    then (p_owner >> 32 & 15)::int else _qwf.take_turn_slot(p_owner) end
$$;

-- Finds the sequence that keeps the turns of an owner, or takes a free one, and notes the
-- minute. Null: none is free. Free is what nobody has asked for in an hour. If two take the same
-- one at once, the second keeps it, and the first finds another at its next claim. Never raises.
create function _qwf.take_turn_slot(p_owner bigint) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_minute bigint := p_owner & 4294967295;
  v_number int;
  v_slot int;
  v_kept bigint;
begin
  for v_nth in 0..15 loop
    v_number := (p_owner >> 32) + v_nth & 15;
    v_kept := pg_sequence_last_value(('_qwf.turn_owner_' || v_number)::regclass);
    if v_kept >> 32 = p_owner >> 32 then
      v_slot := v_number;
      exit;
    elsif v_slot is null and coalesce(abs(v_minute - (v_kept & 4294967295)) > 60, true) then
      v_slot := v_number;
    end if;
  end loop;
  if v_slot is not null and v_kept is distinct from p_owner then
    perform setval(('_qwf.turn_owner_' || v_slot)::regclass, p_owner);
  end if;
  return v_slot;
end $$;

-- Keeps how far a claim has come in a line, for the next claim. For all sessions, but see
-- _store_turn_apart. A claim that writes at the same moment may be overwritten, which costs a
-- turn. A claim that is rolled back has moved the place; its keys have their turn in the next
-- round. One expression without a pinned search_path, as _turn_owner.
create function _qwf.store_turn(p_turn _qwf.turn, p_last bigint, p_pinned boolean) returns bigint
language sql volatile
as $$
  select case
    when p_pinned or p_turn.slot is null or p_turn.own is not null or p_turn.shared
      is distinct from pg_sequence_last_value(('_qwf.turn_place_' || p_turn.slot)::regclass)
      then _qwf.store_turn_apart(p_turn, p_last, p_pinned)
    else setval(('_qwf.turn_place_' || p_turn.slot)::regclass, p_last) end
$$;

-- Keeps how far a claim has come in a line, in the cases that are not ordinary. Only in this
-- session, if no sequence is free, or if the claim has passed a key that waits for another host:
-- it would lead the workers of that host past their keys. Else for all sessions, unless a claim
-- that ran meanwhile has come further; and the session keeps no place of its own any more.
create function _qwf.store_turn_apart(p_turn _qwf.turn, p_last bigint, p_pinned boolean)
returns bigint
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_setting text := 'qwf.turn_' || (p_turn.owner >> 32);
  v_place regclass := '_qwf.turn_place_' || p_turn.slot;
  v_shared bigint := pg_sequence_last_value(v_place);
begin
  if p_pinned or p_turn.slot is null then
    perform set_config(v_setting, p_last::text, false);
    return p_last;
  end if;
  perform set_config(v_setting, '', false);
  if coalesce((p_last <= p_turn.shared, p_last) > (v_shared < p_turn.shared, v_shared), true) then
    perform setval(v_place, p_last);
  end if;
  return p_last;
end $$;
