-- Limits created, dropped and held. Locks: the row of the queue, the limit, then its free slots
-- and starts that nobody has locked.

-- Creates or changes a named limit on how many jobs run at once, or start in a period, for jobs
-- of every queue that name it with limit_by. While it is not changed, at most `starts` of its
-- jobs start within any period of the length `per`, by the clock of the server; each committed
-- claim is a start. A limit that counts by key has no slots and no starts: see _pick_keyed.
-- Called again, changes only what is given. Lowering it stops no job. Never waits for a claim.
-- Locks: the limit, then its free slots and starts that nobody has locked.
-- Notifies: sleepers of the queues where jobs wait for it.
create function qwf.create_limit(
  name text, max_running int default null, starts int default null, per interval default null,
  keyed boolean default null)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_per interval;
  v_limit qwf.limits;
  v_keyed boolean := coalesce(
    create_limit.keyed, (select l.keyed from qwf.limits l where l.name = create_limit.name), false);
begin
  if coalesce(create_limit.name !~ '^[^[:space:]]{1,200}$', true)
    or starts_with(create_limit.name, 'queue:')
    or create_limit.max_running not between 1 and 10000
    or create_limit.starts not between 0 and 10000
    or not _qwf.is_duration(create_limit.per, '366 days', p_least => '0.01 s')
    or create_limit.max_running is null and coalesce(create_limit.starts, 0) = 0
      and not exists (select from qwf.limits l where l.name = create_limit.name) then
    perform _qwf.raise_invalid_limit(
      create_limit.name, create_limit.max_running, create_limit.starts, create_limit.per);
  end if;
  perform _qwf.check_keyed_limit(
    create_limit.name, create_limit.max_running, create_limit.starts, v_keyed);
  v_per := extract(epoch from create_limit.per) * interval '1 s';  -- a day may have 23 hours
  insert into qwf.limits as l (name, keyed, max_running, starts, per)
  values (create_limit.name, v_keyed,
    coalesce(create_limit.max_running, case when v_keyed then 100 else 10000 end),
    nullif(create_limit.starts, 0),
    case when create_limit.starts > 0 then coalesce(v_per, '1 s') end)
  on conflict (name) do update set
    max_running = coalesce(create_limit.max_running, l.max_running),
    lowered_at = case when create_limit.max_running < l.max_running then qwf.now()
      else l.lowered_at end,
    starts = nullif(coalesce(create_limit.starts, l.starts), 0),
    per = case when coalesce(create_limit.starts, l.starts) > 0
      then coalesce(v_per, l.per, '1 s') end
  returning l.* into v_limit;
  if create_limit.per is not null and v_limit.starts is null then
    perform _qwf.raise_invalid_limit(
      create_limit.name, create_limit.max_running, create_limit.starts, create_limit.per);
  end if;
  if v_keyed then
    perform _qwf.wake(q.name, 16) from qwf.queues q
    where exists (select from _qwf.next_band(q.name, null));
    return;
  end if;
  perform _qwf.store_slots(v_limit.name, v_limit.max_running),
    _qwf.store_starts(v_limit.name, v_limit.starts),
    _qwf.wake_for_limit(v_limit.name, least(v_limit.max_running, v_limit.starts));
end $$;
comment on function qwf.create_limit is
  'Creates a limit that jobs name with limit_by, or changes what is given: how many of them may '
  'run at once (max_running, 10000 if it is new), and how many may start (starts, 0: any number) '
  'within any period (per, a second if it is new). keyed: the numbers, 1 to 100, hold for each '
  'key, and jobs name a key, as limit_by => ''customer:acme''; fixed once the limit exists. QW005 '
  'for an invalid name, number or period.';
call _qwf.allow('qwf.create_limit', 'qwf_admin');

-- Refuses a limit that cannot be, and says what a limit may be.
-- Raises: QW005.
create function _qwf.raise_invalid_limit(
  p_name text, p_max_running int, p_starts int, p_per interval)
returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using errcode = 'QW005', message = 'invalid limit',
    detail = concat_ws(', ', format('name %L', left(p_name, 200)), 'max_running ' || p_max_running,
      'starts ' || p_starts, 'per ' || p_per),
    hint = 'a name has 1 to 200 characters without blanks; give max_running (1 to 10000), or '
      'starts (1 to 10000; 0: any number) with per (0.01 s to 366 days), or both; '
      'to limit a queue: select qwf.create_queue(''gpu'', max_running => 2)';
end $$;

-- Refuses a limit that counts by key and cannot be, or that would become one, and a limit that
-- has the name of a key.
-- Raises: QW005.
create function _qwf.check_keyed_limit(
  p_name text, p_max_running int, p_starts int, p_keyed boolean)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_prefix text := split_part(p_name, ':', 1);
begin
  if p_keyed <> (select l.keyed from qwf.limits l where l.name = p_name) then
    raise exception using errcode = 'QW005',
      message = 'whether a limit counts by key cannot change',
      detail = format('limit %L', p_name),
      hint = format('drop it first, when no job names it: select qwf.drop_limit(%L)', p_name);
  elsif p_keyed and strpos(p_name, ':') > 0 then
    raise exception using errcode = 'QW005',
      message = 'the name of a keyed limit has no colon', detail = format('limit %L', p_name),
      hint = format('name it %s, and its keys %s:KEY', v_prefix, v_prefix);
  elsif p_keyed and p_max_running > 100 then
    raise exception using errcode = 'QW005', message = 'a keyed limit allows 1 to 100 at once',
      detail = format('limit %L, max_running %s', p_name, p_max_running),
      hint = 'the number holds for each key; create_queue has max_running for all jobs of a queue';
  elsif p_keyed and p_starts > 100 then
    raise exception using errcode = 'QW005',
      message = 'a keyed limit allows 1 to 100 starts in a period',
      detail = format('limit %L, starts %s', p_name, p_starts),
      hint = 'give a shorter period with fewer starts';
  elsif not p_keyed and v_prefix <> p_name
    and exists (select from qwf.limits l where l.name = v_prefix and l.keyed)
    and not exists (select from qwf.limits l where l.name = p_name)
  then
    raise exception using errcode = 'QW005',
      message = format('limit "%s" counts by key', v_prefix),
      detail = format('%s is one of its keys', p_name),
      hint = 'a key needs no limit of its own; take a name without this prefix';
  end if;
end $$;

-- Removes a limit, and its holds. Refused while unfinished jobs name it, which would wait
-- forever, or a current definition or enabled schedule does. The limit of a queue (queue:NAME)
-- is removed at once. Waits for open transactions that have put jobs into the limit, and for no
-- claim: a locked slot or start stays, without effect until a limit of that name exists again.
-- Locks: the row of the queue, as create_queue does; the limit; its free slots and starts that
--   nobody has locked.
-- Notifies: sleepers of the queue that is no longer limited.
create function qwf.drop_limit(name text) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_queue text := substring(drop_limit.name from '^queue:(.*)$');
  v_jobs bigint;
  v_users text;
  v_keyed boolean;
begin
  perform from qwf.queues q where q.name = v_queue for no key update;
  select l.keyed into v_keyed from qwf.limits l where l.name = drop_limit.name for update;
  if not found then
    raise exception using errcode = 'QW001', message = 'no such limit',
      detail = format('limit %L', left(drop_limit.name, 200)),
      hint = coalesce(
        _qwf.did_you_mean(drop_limit.name, array(select l.name from qwf.limits l)),
        'list them: select * from qwf.limits');
  end if;
  select count(*) into v_jobs
  from qwf.jobs j
  where (j.limit_by = drop_limit.name or j.limit_place is not null
      and split_part(j.limit_by, ':', 1) = drop_limit.name) and j.finished_at is null;
  if v_jobs > 0 then
    raise exception using errcode = 'QW002', message = 'limit is in use',
      detail = format('%s unfinished jobs name limit %L', v_jobs, drop_limit.name),
      hint = 'wait for these jobs or cancel them first; to let more run at once: '
        'select qwf.create_limit(name, more)';
  end if;
  v_users := _qwf.limit_users(drop_limit.name, v_keyed);
  if v_users is not null then
    raise exception using errcode = 'QW002', message = 'limit is in use',
      detail = format('limit %L is named by %s', drop_limit.name, left(v_users, 1000)),
      hint = 'first register or create these without limit_by';
  end if;
  delete from qwf.limit_slots s
  using (  -- held slots of a queue limit are freed when their jobs end
    select f.slot from qwf.limit_slots f
    where f.limit_name = drop_limit.name and f.job_id is null
    for update skip locked
  ) free
  where s.limit_name = drop_limit.name and s.slot = free.slot;
  delete from qwf.limit_holds h where h.name = drop_limit.name
    or v_keyed and split_part(h.name, ':', 1) = drop_limit.name;
  delete from qwf.limits l where l.name = drop_limit.name;
  perform _qwf.store_starts(drop_limit.name, null);
  if v_queue is not null then
    update qwf.queues q set max_running = null where q.name = v_queue;
    perform _qwf.wake(v_queue, 16);
  end if;
end $$;
comment on function qwf.drop_limit is
  'Removes a limit; queue:NAME is the limit of a queue. QW001 no such limit, QW002 unfinished '
  'jobs, current definitions or schedules that are on name it.';
call _qwf.allow('qwf.drop_limit', 'qwf_admin');

-- Returns the keys of a limit that counts by key, those with the most jobs first, and what each
-- holds back. Reads every job of the limit that waits or runs: for people, not for programs that
-- ask often. With `name` LIMIT:KEY it returns this key alone.
-- Raises: QW001 for an unknown limit, QW005 for one that does not count by key.
create function qwf.busiest_keys(name text, max_rows int default 20)
returns table (
  key text, running int, queued int, waits_since timestamptz, opens_at timestamptz, held_back text)
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_limit qwf.limits;
begin
  select l.* into v_limit from qwf.limits l
  where l.name = split_part(busiest_keys.name, ':', 1) or l.name = busiest_keys.name
  order by l.name = busiest_keys.name desc limit 1;
  if v_limit.name is null then
    perform _qwf.check_limit('', busiest_keys.name);
  elsif not v_limit.keyed then
    raise exception using errcode = 'QW005', message = 'the limit does not count by key',
      detail = format('limit %L', v_limit.name), hint = 'see it in qwf.limit_overview';
  end if;
  perform _qwf.check_count('max_rows', busiest_keys.max_rows);
  return query
  select b.limit_by, b.running, b.queued, b.since, greatest(o.at, h.until), case
      when b.queued = 0 then null
      when h.until is not null then format('held until %s, by %s', h.until, h.by)
      when o.at is not null then format('its rate, until %s', o.at)
      when b.running >= v_limit.max_running
        then format('%s of %s running', b.running, v_limit.max_running) end
  from (
    select j.limit_by, count(*) filter (where j.status = 'running')::int as running,
      count(*) filter (where j.status = 'queued')::int as queued,
      min(j.queued_at) filter (where j.status = 'queued') as since
    from qwf.jobs j
    where j.limit_place is not null and j.status in ('queued', 'running') and case
      when v_limit.name = busiest_keys.name then split_part(j.limit_by, ':', 1) = v_limit.name
      else j.limit_by = busiest_keys.name end
    group by j.limit_by
    order by count(*) desc, min(j.queued_at), j.limit_by
    limit busiest_keys.max_rows
  ) b
  left join lateral (
    select k.starts[v_limit.starts] + v_limit.per as at from qwf.limit_keys k
    where k.name = b.limit_by and k.starts[v_limit.starts] > qwf.now() - v_limit.per) o on true
  left join lateral (
    select d.until, coalesce('job ' || d.job_id, quote_ident(d.login)) as by
    from qwf.limit_holds d
    where d.name in (v_limit.name, b.limit_by) and d.until > qwf.now()
    order by d.until desc limit 1) h on true
  order by b.running + b.queued desc, b.since, b.limit_by;
end $$;
comment on function qwf.busiest_keys is
  'Returns the keys of a limit that counts by key which have the most jobs: how many run and wait, '
  'since when, when the next may start, and what holds them back. QW001 for an unknown limit, '
  'QW005 for one that does not count by key.';
call _qwf.allow('qwf.busiest_keys', 'qwf_viewer');

-- Lets no job of a limit, or of one of its keys, start before a time. The later of two holds
-- wins, and a call that changes nothing writes nothing. Running jobs go on. Holds from the
-- moment at which the caller's transaction commits, also for claims that begin then, and beyond
-- a change of the limit; drop_limit ends it. A tick deletes it when its time has come. Waits for
-- no claim, and no claim waits for it.
-- Locks: the limit FOR KEY SHARE, as enqueue does; then the hold.
-- Notifies: when it ends a hold, sleepers of the queues where jobs wait for the limit.
create function qwf.hold_limit(
  name text, until timestamptz, key text default null, job_id bigint default null)
returns timestamptz
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
  v_name text := hold_limit.name || coalesce(':' || hold_limit.key, '');
  v_keyed boolean;
  v_old timestamptz;
  v_until timestamptz := hold_limit.until;
begin
  perform _qwf.check_text('key', hold_limit.key);
  select l.keyed into v_keyed from qwf.limits l where l.name = hold_limit.name for key share;
  if not found then
    raise exception using errcode = 'QW001', message = 'no such limit',
      detail = format('limit %L', left(hold_limit.name, 200)),
      hint = coalesce((
          select format('give its key apart: select qwf.hold_limit(%L, until, key => %L)', l.name,
            left(substr(hold_limit.name, length(l.name) + 2), 200))
          from qwf.limits l
          where l.keyed and l.name = split_part(left(hold_limit.name, 500), ':', 1)),
        _qwf.did_you_mean(left(hold_limit.name, 200), array(select l.name from qwf.limits l)),
        'list them: select * from qwf.limits');
  elsif hold_limit.key is not null
    and (not v_keyed or hold_limit.key = '' or octet_length(v_name) > 500)
  then
    raise exception using errcode = 'QW005', message = 'the limit has no such key',
      detail = format('limit %L, key %L', hold_limit.name, left(hold_limit.key, 200)),
      hint = case when v_keyed then 'a key has a letter, and limit and key at most 500 bytes'
        else 'the limit does not count by key: leave out key' end;
  elsif v_until > v_now + interval '366 days' then
    raise exception using errcode = 'QW005', message = 'a limit cannot be held that long',
      detail = format('until %s', v_until), hint = 'hold it for 366 days at most';
  end if;
  select h.until into v_old from qwf.limit_holds h where h.name = v_name and h.until > v_now;
  if coalesce(v_until <= v_now, true) then
    delete from qwf.limit_holds h where h.name = v_name;
    v_until := null;
    if v_keyed and v_old is not null then
      perform _qwf.wake(q.name, 16) from qwf.queues q
      where exists (select from _qwf.next_band(q.name, null));
    elsif v_old is not null then
      perform _qwf.wake_for_limit(v_name, 16);
    end if;
  elsif v_old >= v_until then
    return v_old;
  else
    insert into qwf.limit_holds as h (name, until, login, job_id)
    values (v_name, v_until, session_user, hold_limit.job_id)
    on conflict (name) do update set
      until = excluded.until, login = excluded.login, job_id = excluded.job_id
    where h.until < excluded.until;
    if not found then  -- somebody else has held it for longer meanwhile
      return (select h.until from qwf.limit_holds h where h.name = v_name);
    end if;
  end if;
  perform _qwf.record_change('limit_changed', hold_limit.name,
    jsonb_build_object('held_until', v_old), jsonb_build_object('held_until', v_until),
    jsonb_strip_nulls(jsonb_build_object(
      'job', hold_limit.job_id, 'one_key', nullif(hold_limit.key is not null, false))));
  return v_until;
end $$;
comment on function qwf.hold_limit is
  'Lets no job that names the limit start before until, at most 366 days ahead; running ones go '
  'on. key: only jobs of this key of a limit that counts by key; null: of all keys. The later of '
  'two holds wins, and a null or a past time ends the hold; returns until when it holds now. '
  'job_id: the job that asks for it, for people. Takes effect when this transaction commits. QW001 '
  'no such limit, QW005 no such key or a time too far ahead.';
call _qwf.allow('qwf.hold_limit', 'qwf_producer', 'qwf_worker');
