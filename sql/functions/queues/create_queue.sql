-- Deploy qwf:functions/queues/create_queue
-- Purpose: Creates a queue, or changes its settings.
-- Guarantees: Called again, changes only what is given; unset names what gets its default again.
--   Keeps max_running as the limit queue:NAME: running jobs count, none is stopped, and unset or
--   drop_limit removes it.
-- Locks: the row of the queue, then as create_limit; running jobs of a queue that had no limit.
-- Notifies: sleepers of the queue, if more jobs may run now.
-- Called by: administrators, migrations of host applications.

begin;

create function qwf.create_queue(
  name text, lease interval default null, timeout interval default null,
  retention interval default null, max_running int default null, placement text default null,
  keep_completed boolean default null, on_failure text default null,
  unset text[] default null, expect jsonb default null)
returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_given constant jsonb := jsonb_build_object(
    'lease', create_queue.lease, 'timeout', create_queue.timeout,
    'retention', create_queue.retention, 'max_running', create_queue.max_running,
    'placement', create_queue.placement, 'keep_completed', create_queue.keep_completed,
    'on_failure', create_queue.on_failure, 'expect', create_queue.expect);
  v_new text[] := _qwf.new_settings(v_given, create_queue.unset);
begin
  if coalesce(create_queue.name !~ '^[a-z][a-z0-9_.-]{0,62}$', true) then
    raise exception using errcode = 'QW005', message = 'invalid queue name',
      detail = format('name: %L', left(create_queue.name, 200)),
      hint = 'use 1 to 63 lower-case letters, digits, dots, dashes or underscores, a letter first';
  end if;
  perform _qwf.refuse_engine_name('queue', create_queue.name)
  where starts_with(create_queue.name, 'qwf.')
    and not exists (select from qwf.queues q where q.name = create_queue.name);
  if not _qwf.is_duration(create_queue.lease, '1 day', p_least => '1 s')
    or not _qwf.is_duration(create_queue.timeout, '366 days')
    or not _qwf.is_duration(create_queue.retention, '1000 years')
    or create_queue.max_running not between 1 and 10000
    or create_queue.placement not in ('spread', 'pack')
    or create_queue.on_failure not in ('fail', 'ask') then
    raise exception using errcode = 'QW005', message = 'value out of range',
      detail = format('given: %s', left(jsonb_strip_nulls(v_given)::text, 1000)),
      hint = 'lease is 1 second to 1 day, timeout is positive and at most 366 days, '
        'retention is positive and at most 1000 years, max_running is 1 to 10000, '
        'placement is spread or pack, on_failure is fail or ask';
  end if;
  perform _qwf.raise_problems('QW005', 'invalid queue',
    array(select p from _qwf.expect_problems(create_queue.expect, '{starts_within}') p));
  insert into qwf.queues as q (
    name, lease, timeout, retention, max_running, placement, keep_completed, on_failure, expect)
  values (create_queue.name, create_queue.lease, create_queue.timeout, create_queue.retention,
    create_queue.max_running, coalesce(create_queue.placement, 'spread'),
    coalesce(create_queue.keep_completed, true), coalesce(create_queue.on_failure, 'fail'),
    nullif(create_queue.expect, '{}'))
  on conflict (name) do update set
    lease = case when 'lease' = any (v_new) then excluded.lease else q.lease end,
    timeout = case when 'timeout' = any (v_new) then excluded.timeout else q.timeout end,
    retention = case when 'retention' = any (v_new) then excluded.retention else q.retention end,
    max_running = coalesce(excluded.max_running, q.max_running),
    placement = case when 'placement' = any (v_new) then excluded.placement else q.placement end,
    keep_completed = case when 'keep_completed' = any (v_new) then excluded.keep_completed
      else q.keep_completed end,
    on_failure = case when 'on_failure' = any (v_new) then excluded.on_failure
      else q.on_failure end,
    expect = case when 'expect' = any (v_new) then excluded.expect else q.expect end;
  perform _qwf.limit_queue(
    create_queue.name, create_queue.max_running, 'max_running' = any (v_new));
end $$;
comment on function qwf.create_queue is
  'Creates a queue, or changes the given settings of an existing one: lease, timeout and '
  'retention of its jobs, how many may run at once, who takes a new job: spread (the first to '
  'ask) or pack (the best worker that has room), whether completed jobs are kept '
  '(keep_completed), and whether a person is asked about a standalone job that fails for good and '
  'does not say it itself (on_failure: fail or ask), and how long the first job may wait until '
  'qwf tells that the queue waits (expect: {"starts_within": "5 min"}). unset lists settings '
  'that get their default again: {lease,retention}. QW005 for an invalid name or value.';
call _qwf.allow('qwf.create_queue', 'qwf_admin');

commit;
