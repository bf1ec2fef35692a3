-- Many jobs enqueued in one statement. Locks: as enqueue, limits before keys.

create type qwf.enqueued as (job_id bigint, merged boolean, kept text, run_at timestamptz);
comment on type qwf.enqueued is
  'The result of an item of enqueue_many. merged: a job with its key was there. kept: new (a new '
  'job), old args (the job that was there keeps its arguments), new args (it has those of the '
  'item). run_at: it starts no sooner; null: it starts as soon as it can.';

create type _qwf.new_job as (
  ord int, task text, args jsonb, queue text, priority int, run_at timestamptz, key text,
  max_attempts int, backoff jsonb, timeout interval, model text, vram_mb int, requires jsonb,
  limit_by text, on_failure text, expires interval, project text, labels jsonb, once boolean,
  light boolean, max_losses int, key_mode text, debounce interval, debounce_max interval,
  notify text, at_most_once boolean);
comment on type _qwf.new_job is 'One item of enqueue_many, parsed, checked and with its defaults.';

-- Enqueues any number of standalone jobs in one statement. All or none; a row for each item, in
-- input order, which says what became of it. An item with a key merges into the job of its key
-- that waits, in the table or an earlier item. Keys are taken in sorted order, so two callers
-- with the same keys cannot deadlock.
-- Locks: limits that items name, against being dropped; keys as _insert_jobs.
-- Notifies: sleepers of the queues, once.
-- Raises: QW001, QW005, QW006, QW008 as enqueue does; the first three name the item: [3].queue.
create function qwf.enqueue_many(jobs jsonb) returns setof qwf.enqueued
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_jobs _qwf.new_job[] := _qwf.read_jobs(enqueue_many.jobs);
  v_now timestamptz := qwf.now();
  v_max_bytes int := (select s.max_value_bytes from qwf.settings s);
begin
  perform _qwf.raise_unknown_queue(unknown.queue, format('[%s].', unknown.ord))
  from (
    select i.queue, i.ord from unnest(v_jobs) i
    where starts_with(i.queue, 'qwf.')
      or not exists (select from qwf.queues q where q.name = i.queue)
    order by i.ord
    limit 1
  ) unknown;
  perform _qwf.lock_limits(variadic array_agg(distinct i.limit_by))
  from unnest(v_jobs) i where i.limit_by is not null having count(*) > 0;
  perform _qwf.check_job(special.job, format('[%s].', (special.job).ord), v_max_bytes)
  from (  -- only what may be refused is looked at one by one
    select i as job from unnest(v_jobs) i
    where _qwf.job_problem(i) is not null or i.limit_by is not null
      or starts_with(i.task, 'qwf.')
      or not _qwf.is_small_job(i, v_max_bytes)
    order by i.ord
  ) special;
  perform _qwf.notice_unserved(n.queue, array_agg(n.task), n.project)
  from (select distinct i.queue, i.task, i.project from unnest(v_jobs) i) n
  cross join lateral _qwf.look_up_queue(n.queue, n.task, n.project, v_now) l
  where not l.served
  group by n.queue, n.project;
  if exists (select from unnest(v_jobs) i where i.key is not null) then
    return query select * from _qwf.insert_jobs(v_jobs);
  else
    return query
    select i.id, false, 'new', case when i.run_at > v_now then i.run_at end
    from unnest(_qwf.insert_keyless(v_jobs), v_jobs)
      i (id, ord, task, args, queue, priority, run_at);
  end if;
end $$;
comment on function qwf.enqueue_many is
  'Enqueues a JSON list of jobs, each an object with the arguments of enqueue, and returns a row '
  'for each, in order: its id, whether it was merged into a job that waits, what was kept, and '
  'when it starts.';
call _qwf.allow('qwf.enqueue_many', 'qwf_producer');

-- Reads the JSON list of jobs given to enqueue_many. Every item gets its defaults, and has no
-- key that would be ignored.
-- Raises: QW005, naming the item.
create function _qwf.read_jobs(p_jobs jsonb) returns _qwf.new_job[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_bad record;
  v_known text[] := array(
    select a.attname::text from pg_attribute a
    where a.attrelid = '_qwf.new_job'::regclass and a.attname <> 'ord' order by a.attnum);
begin
  if jsonb_typeof(p_jobs) is distinct from 'array' then
    raise exception using errcode = 'QW005', message = 'jobs must be a list',
      hint = 'pass a JSON list of objects: [{"task": "greet", "args": {"who": "Ada"}}]';
  end if;
  select e.value, format('[%s]', e.ordinality - 1) as place into v_bad
  from jsonb_array_elements(p_jobs) with ordinality e
  where case when jsonb_typeof(e.value) = 'object' then e.value - v_known <> '{}' else true end
  order by e.ordinality
  limit 1;
  if jsonb_typeof(v_bad.value) <> 'object' then
    raise exception using errcode = 'QW005', message = 'invalid job',
      detail = format('%s: not an object with the arguments of enqueue: %s',
        v_bad.place, _qwf.excerpt(v_bad.value)),
      hint = 'an item may have ' || array_to_string(v_known, ', ');
  elsif found then
    perform _qwf.check_keys(v_bad.place || '.', v_bad.value, v_known);
  end if;
  return (
    select array_agg((
      i.ordinality - 1, i.task, coalesce(i.args, '{}'), coalesce(i.queue, 'default'),
      coalesce(i.priority, 100), i.run_at, i.key, i.max_attempts, i.backoff, i.timeout, i.model,
      i.vram_mb, coalesce(i.requires, '{}'), i.limit_by, i.on_failure, i.expires,
      coalesce(i.project, ''), case when i.notify is null then coalesce(i.labels, '{}')
        else _qwf.with_notify(i.labels, i.notify) end, coalesce(i.once, false),
      coalesce(i.light, false), i.max_losses, i.key_mode, i.debounce,
      i.debounce_max, i.notify, i.at_most_once)::_qwf.new_job)
    from jsonb_populate_recordset(null::_qwf.new_job, p_jobs) with ordinality i);
exception
  when data_exception then  -- text that is not a valid number, time or interval
    raise exception using errcode = 'QW005', message = 'invalid job', detail = left(sqlerrm, 500),
      hint = 'write times as 2026-01-31T12:00Z, intervals as 10 min, numbers as JSON numbers; '
        'nothing was written';
end $$;

-- Inserts standalone jobs of which some have keys, or merges them into those that wait. Answers
-- in the order of the jobs, and gives them positions in that order. Inserts and locks in the
-- order of (project, task, key), one by one, so that two callers with the same keys cannot
-- deadlock.
-- Locks: as _insert_job, in that order.
-- Notifies: sleepers of the queues, once; of those of merged jobs, as _merge_waiting does.
-- Raises: QW008 as _insert_job.
create function _qwf.insert_jobs(p_jobs _qwf.new_job[]) returns setof qwf.enqueued
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := qwf.now();
  v_positions bigint[] := array(select _qwf.next_position() from unnest(p_jobs));
  v_answers qwf.enqueued[] := array_fill(null::qwf.enqueued, array[cardinality(p_jobs)]);
  v_place int;
begin
  for v_place in
    select i.ordinality from unnest(p_jobs) with ordinality i
    order by i.project, i.task, i.key, i.ordinality
  loop
    v_answers[v_place] := _qwf.insert_job(p_jobs[v_place], v_positions[v_place], v_now);
  end loop;
  perform _qwf.wake(i.queue, count(*)::int)
  from unnest(p_jobs) with ordinality i
  where (v_answers[i.ordinality]).run_at is null and not (v_answers[i.ordinality]).merged
  group by i.queue;
  return query select * from unnest(v_answers);
end $$;

-- Inserts standalone jobs that have no keys. Returns ids in the order of the jobs.
-- Notifies: sleepers of the queues, once.
create function _qwf.insert_keyless(p_jobs _qwf.new_job[]) returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := qwf.now();
  v_ids bigint[];
begin
  with inserted as (
    insert into qwf.jobs as j (
      task, inputs, queue, priority, status, run_at, position, queued_at, once, options,
      required_model, light, vram_mb, requires, limit_by,
      limit_place, on_failure, expires_at, project, checked, labels, created_at, begun)
    select
      i.task, i.args, i.queue, i.priority,
      case when i.run_at > v_now then 'scheduled' else 'queued' end::qwf.job_status, i.run_at,
      case when (i.run_at > v_now) is not true then _qwf.next_position() end,
      case when (i.run_at > v_now) is not true then v_now end,
      i.once, _qwf.options_of(i, null), i.model, i.light, i.vram_mb,
      i.requires, i.limit_by,
      _qwf.limit_place(i.limit_by), i.on_failure,
      greatest(i.run_at, v_now) + i.expires, i.project, _qwf.is_checked(i.labels),
      i.labels - 'qwf.checked', v_now, case when i.at_most_once then false end
    from unnest(p_jobs) i
    returning j.id
  )
  select array_agg(i.id order by i.id) into v_ids from inserted i;
  if exists (select from unnest(p_jobs) i where i.expires is not null) then
    perform _qwf.add_waits(v_ids);
  end if;
  perform _qwf.wake(i.queue, count(*)::int)
  from unnest(p_jobs) i
  where (i.run_at > v_now) is not true
  group by i.queue;
  return v_ids;
end $$;
