-- Deploy qwf:functions/queues/create_limit
-- Purpose: Creates or changes a named limit on how many jobs run at once, or start in a period.
-- Guarantees: A limit that counts by key has no slots and no starts: see _pick_keyed. Applies to
--   jobs of every queue that name it with limit_by; with max_running 1 the jobs of a queue run
--   strictly in claim order. While the limit is not changed, at most `starts` of its jobs start
--   within any period of the length `per`, by the clock of the server. A start is a claim that was
--   committed, also of a retry and of a job that is released. Called again, changes only what is
--   given. Lowering it stops no job: nothing more is handed out until fewer run, or fewer have
--   started. Waits for no claim.
-- Locks: the limit, then its free slots and starts that nobody has locked.
-- Notifies: sleepers of the queues where jobs wait for it.

begin;

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

commit;
