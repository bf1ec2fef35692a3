-- Checks of a new job, and of the receivers notified when it ends.

-- Refuses a standalone job that could not run. Finds every invalid argument of enqueue before a
-- row is written.
-- Raises: QW005 for a bad value, QW001 for an unknown limit, QW007 for a task of the engine.
create function _qwf.check_job(p_job _qwf.new_job, p_where text, p_max_bytes int) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_problem text := _qwf.job_problem(p_job);
begin
  if starts_with(p_job.task, 'qwf.') then
    perform _qwf.refuse_engine_name(p_where || 'task', p_job.task);
  end if;
  if v_problem is not null then
    raise exception using errcode = 'QW005', message = 'invalid job', detail = p_where || v_problem,
      hint = 'correct the value and enqueue again; nothing was written';
  end if;
  if p_job.limit_by is not null then
    perform _qwf.check_limit(p_where, p_job.limit_by);
  end if;
  if not _qwf.is_small_job(p_job, p_max_bytes) then
    perform _qwf.check_json(p_where || 'args', p_job.args, p_max_bytes),
      _qwf.check_json(p_where || 'requires', p_job.requires),
      _qwf.check_json(p_where || 'labels', p_job.labels);
  end if;
end $$;

-- Returns a label whose name begins with qwf., which nobody but the engine may use; null: there
-- is none. The mark of the typed Python client, qwf.checked with true, is none of these: the
-- engine takes it out. Nor is qwf.notify with the name of a receiver: it says whom events of the
-- job or run are told.
create function _qwf.engine_label(p_labels jsonb) returns text
language sql immutable strict
set search_path = pg_catalog, pg_temp
as $$
  select left(l.key, 100)
  from jsonb_each(case when jsonb_typeof(p_labels) = 'object' then p_labels else '{}' end) l
  where starts_with(l.key, 'qwf.') and not (l.key = 'qwf.checked' and l.value = 'true')
    and not coalesce(l.key = 'qwf.notify' and _qwf.is_receiver(l.value #>> '{}'), false)
  limit 1
$$;

-- Returns what is wrong with the debounce of a standalone job, or null. Is not inlined, because
-- of its search_path: jobs without debounce, which are checked by the same expression, do not
-- pay for it.
create function _qwf.debounce_problem(p_job _qwf.new_job) returns text
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select case
    when p_job.debounce is null then 'debounce_max: needs debounce'
    when p_job.key is null or p_job.once or p_job.key_mode = 'refuse'
      then 'debounce: needs a key, and key_mode keep or replace'
    when p_job.run_at is not null then 'debounce: not with run_at, which it sets'
    when not _qwf.is_duration(p_job.debounce, '366 days') then 'debounce: positive, at most a year'
    when not _qwf.is_duration(p_job.debounce_max, '3660 days', p_job.debounce)
      then 'debounce_max: at least debounce, at most ten years'
  end
$$;

-- Returns what is wrong with a standalone job as such, or null. Looks at no table, and not at
-- the size of JSON values. PostgreSQL inlines it, so a statement that checks a list of jobs
-- makes no call for each.
create function _qwf.job_problem(p_job _qwf.new_job) returns text
language sql volatile
return case
  when p_job.task is null or length(p_job.task) not between 1 and 200
    or p_job.task ~ '[[:space:]]'
    then 'task: 1 to 200 characters without blanks'
  when starts_with(p_job.task, 'qwf.') then 'task: names that begin with qwf. belong to the engine'
  when p_job.args is null or jsonb_typeof(p_job.args) <> 'object' then 'args: a JSON object'
  when jsonb_typeof(p_job.requires) <> 'object' then 'requires: a JSON object of labels'
  when p_job.requires <> '{}' and _qwf.requires_problem(p_job.requires) is not null
    then 'requires: ' || _qwf.requires_problem(p_job.requires)
  when jsonb_typeof(p_job.labels) <> 'object' then 'labels: a JSON object'
  when p_job.labels - '{traceparent,tracestate}'::text[] not in ('{}', '{"qwf.checked": true}')
    and _qwf.engine_label(p_job.labels) is not null
    then 'labels: names that begin with qwf. are the engine''s own: '
      || _qwf.engine_label(p_job.labels)
  when p_job.key = '' then 'key: not empty; leave it out, or give null, for a job without a key'
  when p_job.once and p_job.key is null
    then 'once: needs a key, because it keeps the key taken after the job has ended'
  when p_job.key_mode not in ('keep', 'replace', 'refuse')
    then 'key_mode: keep, replace or refuse'
  when p_job.key_mode is not null and p_job.key is null then 'key_mode: needs a key'
  when p_job.key_mode is not null and p_job.once
    then 'key_mode: not with once, which takes the key for good'
  when octet_length(p_job.key) > 500 then 'key: at most 500 bytes; use a digest of a longer one'
  when octet_length(p_job.project) > 500 then 'project: at most 500 bytes'
  when p_job.max_attempts < 1 then 'max_attempts: at least 1'
  when p_job.max_losses < 1 then 'max_losses: at least 1; 1 stands for no second try'
  when length(p_job.model) not between 1 and 200 then 'model: 1 to 200 characters'
  when not _qwf.is_duration(p_job.timeout, '366 days') then 'timeout: positive, at most a year'
  when p_job.vram_mb < 0 then 'vram_mb: not negative'
  when p_job.on_failure not in ('fail', 'ask')
    then 'on_failure: fail or ask; continue is for nodes, a standalone job has no dependants'
  when not _qwf.is_readable_time(p_job.run_at)
    then 'run_at: within the years 1 to 9999, or infinity'
  when not _qwf.is_duration(p_job.expires, '1000 years')
    then 'expires: positive, at most 1000 years'
  when p_job.expires is not null
    and not _qwf.is_readable_time(greatest(p_job.run_at, qwf.now()) + p_job.expires)
    then 'expires: at a time before the year 10000'
  when p_job.backoff is not null and _qwf.backoff_seconds(p_job.backoff, 1) is null
    then 'backoff: a list of seconds such as [1, 5, 30], or {"base": 1, "factor": 2, '
    '"max": 600}, of at most 4 KiB; not ' || _qwf.excerpt(p_job.backoff, 100)
  when num_nonnulls(p_job.debounce, p_job.debounce_max) > 0 then _qwf.debounce_problem(p_job)
end;

-- True for what can be the name of a receiver; an address never is one. Null for null.
create function _qwf.is_receiver(p_name text) returns boolean
language sql immutable parallel safe
return p_name ~ '^[A-Za-z][A-Za-z0-9_-]{0,62}$';

-- True when the JSON values of a standalone job are so small that no limit matters. Builds no
-- text of a value over 10,000 bytes: numbers such as 1e131071 can make it ten thousand times as
-- long. PostgreSQL inlines it: three calls would take as long as the rest.
create function _qwf.is_small_job(p_job _qwf.new_job, p_max_bytes int) returns boolean
language sql stable
return case when pg_column_size(p_job.args) + pg_column_size(p_job.requires)
    + pg_column_size(p_job.labels) <= 10000
  then greatest(octet_length(p_job.args::text), octet_length(p_job.requires::text),
    octet_length(p_job.labels::text)) <= least(1000, p_max_bytes)
  else false end;

-- Returns labels that name a receiver, whom events of the job or run are told. Without a
-- receiver they stay as they are. Labels that are no object stay as they are: the check of
-- labels refuses them. A notice says when no live agent has the receiver.
-- Raises: QW005 for what cannot be the name of a receiver.
create function _qwf.with_notify(p_labels jsonb, p_receiver text) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if not _qwf.is_receiver(p_receiver) then
    raise exception using errcode = 'QW005', message = 'invalid receiver',
      detail = format('notify %L', left(p_receiver, 200)),
      hint = 'give the name of a receiver, letters, digits, - and _; an administrator writes '
        'addresses into qwf.toml of an agent: [receiver.NAME]';
  end if;
  perform _qwf.notice_no_receiver(p_receiver);
  return case
    when p_receiver is null or jsonb_typeof(coalesce(p_labels, '{}')) <> 'object' then p_labels
    else coalesce(p_labels, '{}') || jsonb_build_object('qwf.notify', p_receiver) end;
end $$;

-- Tells who names a receiver that no live agent has it. Only a notice: messages wait, for a day,
-- until an agent has it.
create function _qwf.notice_no_receiver(p_receiver text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_receiver is not null and not exists (
    select from qwf.workers w cross join qwf.settings s
    where w.queue = 'qwf.alerts' and w.stopped_at is null
      and w.last_seen > qwf.now() - s.worker_stale
      and w.labels ->> ('receiver.' || p_receiver) = 'true')
  then
    raise notice using message = format('no live agent has receiver %s', p_receiver),
      hint = format('add [receiver.%s] to qwf.toml of an agent', p_receiver);
  end if;
end $$;
