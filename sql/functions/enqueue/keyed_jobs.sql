-- One job inserted; with a key, merged into the one that waits, in its place, or behind the one
-- that has started. Locks: the key, then the job that waits under it.

-- Inserts one standalone job at a position, or merges it into the job of its key that waits.
-- Never merges into a job that has started, so no edit is lost: the new one waits behind it.
-- Only once and refuse count every unfinished job, even one that a claim has started meanwhile.
-- With debounce it starts that long after this call, and at most debounce_max after it.
-- Locks: the key, against others who insert it; the job that it merges into, until the caller's
--   transaction ends: no claim can start that job with the old arguments meanwhile.
-- Raises: QW008 with key_mode refuse, or for replacing a job that was enqueued once.
create function _qwf.insert_job(
  p_job _qwf.new_job, p_position bigint, p_now timestamptz)
returns qwf.enqueued
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_run_at timestamptz := coalesce(p_now + p_job.debounce, p_job.run_at);
  v_later boolean := coalesce(v_run_at > p_now, false);
  v_id bigint;
  v_merged qwf.enqueued;
begin
  loop
    if p_job.once or p_job.key_mode = 'refuse' then
      v_id := _qwf.started_with_key(p_job.project, p_job.task, p_job.key, true);
      if v_id is not null and p_job.once then
        return (v_id, true, 'old args', null)::qwf.enqueued;
      elsif v_id is not null then
        perform _qwf.raise_key_taken(v_id);
      end if;
    end if;
    insert into qwf.jobs as j (
      task, inputs, queue, priority, status, run_at, position, queued_at, key, once, key_state,
      options, required_model, light, vram_mb, requires, limit_by, limit_place, on_failure,
      expires_at, project, checked, labels, created_at, begun)
    values (
      p_job.task, p_job.args, p_job.queue, p_job.priority,
      case when v_later then 'scheduled' else 'queued' end::qwf.job_status, v_run_at,
      case when not v_later then p_position end, case when not v_later then p_now end,
      p_job.key, p_job.once, case when p_job.key is null or p_job.once then 'u' else 'w' end,
      _qwf.options_of(p_job, p_now + coalesce(p_job.debounce_max, 10 * p_job.debounce)),
      p_job.model, p_job.light, p_job.vram_mb, p_job.requires, p_job.limit_by,
      _qwf.limit_place(p_job.limit_by),
      p_job.on_failure, greatest(v_run_at, p_now) + p_job.expires, p_job.project,
      _qwf.is_checked(p_job.labels), p_job.labels - 'qwf.checked', p_now,
      case when p_job.at_most_once then false end)
    on conflict (project, task, key, (key_state = 's'))
      where key is not null and (once or status in ('scheduled', 'queued', 'running'))
      do nothing
    returning j.id into v_id;
    if found then
      exit when not (p_job.once or coalesce(p_job.key_mode = 'refuse', false))
        or _qwf.started_with_key(p_job.project, p_job.task, p_job.key, true) is null;
      delete from qwf.jobs j where j.id = v_id;  -- the insert has waited for a claim of the older
      continue;
    end if;
    v_merged := _qwf.merge_waiting(p_job);
    if v_merged.job_id is not null then
      return v_merged;
    end if;  -- else it started or ended: its place is free
  end loop;
  if p_job.expires is not null then
    perform _qwf.add_waits(array[v_id]);
  end if;
  return (v_id, false, 'new', case when v_later then v_run_at end)::qwf.enqueued;
end $$;

-- Returns the job of a key that has started and has not ended; null: there is none. Reads the
-- index jobs_key. p_scheduled: also counts a job that waits for its next try.
create function _qwf.started_with_key(
  p_project text, p_task text, p_key text, p_scheduled boolean)
returns bigint
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return (
    select o.id from qwf.jobs o
    where o.project = p_project and o.task = p_task and o.key = p_key and o.key is not null
      and (o.key_state = 's')
      and (o.status in ('queued', 'running') or p_scheduled and o.status = 'scheduled'));
end $$;

-- Refuses a job whose key an unfinished job has, and names that job.
-- Raises: QW008.
create function _qwf.raise_key_taken(p_id bigint) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_there record;
begin
  select j.id, j.status, j.key into v_there from qwf.jobs j where j.id = p_id;
  raise exception using errcode = 'QW008', message = 'key is taken',
    detail = format('job %s (%s) has key "%s"', p_id, coalesce(v_there.status::text, 'gone'),
      v_there.key),
    hint = 'key_mode => ''keep'' lets one wait behind it';
end $$;

-- Returns the tries and times of its own that a standalone job has; null: none. PostgreSQL
-- inlines it.
create function _qwf.options_of(p_job _qwf.new_job, p_start_by timestamptz)
returns qwf.job_options
language sql immutable
as $$
  select case
    when num_nonnulls(p_job.max_attempts, p_job.max_losses, p_job.backoff, p_job.timeout,
      p_start_by) > 0
    then (p_job.max_attempts, p_job.max_losses, p_job.backoff, p_job.timeout, null,
      p_start_by)::qwf.job_options end
$$;

-- True when labels have the private mark of the typed Python client, which has compared the
-- arguments with the function of the task. PostgreSQL inlines it. The mark is a label of the
-- call and never one of the job.
create function _qwf.is_checked(p_labels jsonb) returns boolean
language sql immutable
return coalesce(p_labels @> '{"qwf.checked": true}', false);

-- Merges a job into the one of its key that waits; returns null if none waits any more. It
-- starts no later than any of the merged ones allows, and expires no earlier. With key_mode
-- replace it gets everything but id and place from the new one. A job that was enqueued once is
-- never changed; one that is to be cancelled is cancelled now instead.
-- Locks: the job, which claims then skip; for share only, if it was enqueued once or is kept as
--   it is, so that producers do not wait for each other.
-- Notifies: a sleeper of the queue of a queued job that a claim may have skipped meanwhile.
-- Raises: QW008 with key_mode refuse, or for replacing a job that was enqueued once.
create function _qwf.merge_waiting(p_job _qwf.new_job) returns qwf.enqueued
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_replace boolean := coalesce(p_job.key_mode = 'replace', false);
  v_id bigint;
  v_there qwf.jobs;
  v_run_at timestamptz;
begin
  if exists (select from qwf.cancel_requests) then
    perform _qwf.cancel_waiting(asked.id, asked.reason)
    from (
      select j.id, c.reason from qwf.jobs j join qwf.cancel_requests c on c.job_id = j.id
      where j.project = p_job.project and j.task = p_job.task and j.key = p_job.key
        and j.key is not null and (j.key_state = 's') = false and not j.once
        and j.status in ('scheduled', 'queued')
      for no key update of j) asked;
  end if;
  select j.id, case j.status when 'scheduled' then j.run_at end into v_id, v_run_at
  from qwf.jobs j  -- from the index jobs_key, and so below
  where j.project = p_job.project and j.task = p_job.task and j.key = p_job.key
    and j.key is not null and (j.key_state = 's') = false and j.once
    and j.status in ('scheduled', 'queued')
  for share;
  if not found then  -- one that runs is not locked: its finish would wait
    select j.id into v_id from qwf.jobs j
    where j.project = p_job.project and j.task = p_job.task and j.key = p_job.key
      and j.key is not null and (j.key_state = 's') = false and j.once;
  end if;
  if not found and not v_replace then
    select j.* into v_there from qwf.jobs j
    where j.project = p_job.project and j.task = p_job.task and j.key = p_job.key
      and j.key is not null and (j.key_state = 's') = false
      and j.status = 'queued' and j.expires_at is null and (j.options).start_by is null
    for share;
  end if;
  if v_id is null and v_there.id is null then
    select j.* into v_there from qwf.jobs j
    where j.project = p_job.project and j.task = p_job.task and j.key = p_job.key
      and j.key is not null and (j.key_state = 's') = false
      and j.status in ('scheduled', 'queued')
    for no key update;
  end if;
  v_id := coalesce(v_id, v_there.id);
  if v_id is not null and (p_job.key_mode = 'refuse' or v_replace and v_there.id is null) then
    perform _qwf.raise_key_taken(v_id);
  elsif v_there.id is not null then
    v_run_at := _qwf.change_merged(v_there, p_job);
    if v_run_at is null then
      perform _qwf.wake(case when v_replace then p_job.queue else v_there.queue end, 1);
    end if;
  end if;
  return (v_id, true, case when v_replace then 'new args' else 'old args' end, v_run_at
    )::qwf.enqueued;
end $$;

-- Cancels a job that is not running, and returns the kind of its event, or null. Never waits: a
-- locked row (most likely one being claimed) is left alone.
-- Locks: the job, if it is free and not running.
create function _qwf.cancel_waiting(p_job_id bigint, p_reason text) returns text
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_run_id bigint;
  v_was qwf.job_status;
begin
  begin
    update qwf.jobs j set
      status = 'cancelled', finished_at = qwf.now(), last_error = coalesce(p_reason, j.last_error)
    from (
      select f.id, f.status from qwf.jobs f
      where f.id = p_job_id
        and f.status in ('blocked', 'scheduled', 'queued', 'awaiting_input')
      for no key update skip locked
    ) free
    where j.id = free.id
    returning j.run_id, free.status into v_run_id, v_was;
    if not found then
      raise exception using errcode = 'QW002', message = 'not waiting';
    end if;
  exception
    when sqlstate 'QW002' then  -- drops the lock on a row claimed between read and lock
      return null;
  end;
  delete from qwf.waits w where w.job_id = p_job_id;
  insert into _qwf.event_log (at, run_id, job_id, kind, detail)
  values (qwf.now(), v_run_id, p_job_id, 'cancelled',
    jsonb_build_object('reason', p_reason));
  return case v_was
    when 'blocked' then 'cut' when 'awaiting_input' then 'withdrawn' else 'cancelled' end;
end $$;

-- Writes what a job that waits gets from one that is merged into it, and returns when it starts;
-- null: it is queued. Writes nothing if nothing changes. A call with debounce moves the start to
-- so long after this moment, also of a job that was just queued, but never beyond what an
-- earlier call allows: start_by, or the start that it asked for without debounce. A job that a
-- worker had, or that a person has changed, is never moved to later. A replaced job has the
-- login of who replaced it: what it does is theirs.
-- Locks: the caller has locked the job; one that may change here not only shared.
create function _qwf.change_merged(p_there qwf.jobs, p_job _qwf.new_job) returns timestamptz
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_now timestamptz := qwf.now();  -- the caller may have waited for the lock
  v_asked timestamptz := greatest(coalesce(v_now + p_job.debounce, p_job.run_at), v_now);
  v_expires_at timestamptz := v_asked + p_job.expires;
  v_starts timestamptz := case p_there.status when 'scheduled' then p_there.run_at else v_now end;
  v_bound timestamptz := case p_there.attempt when 0 then (p_there.options).start_by end;
  v_start_by timestamptz := least(coalesce(v_bound, v_starts),
    coalesce(v_now + coalesce(p_job.debounce_max, 10 * p_job.debounce), v_asked));
  v_run_at timestamptz := least(
    v_asked, v_start_by, case when p_job.debounce is null then v_starts end);
  v_later boolean := v_run_at > v_now;
begin
  if p_job.key_mode = 'replace' then
    update qwf.jobs j set
      inputs = p_job.args, checked = _qwf.is_checked(p_job.labels),
      labels = p_job.labels - 'qwf.checked', queue = p_job.queue,
      priority = p_job.priority, limit_by = p_job.limit_by,
      limit_place = _qwf.limit_place(p_job.limit_by),
      expires_at = v_expires_at,
      options = _qwf.options_of(p_job, (j.options).start_by),
      required_model = p_job.model, light = p_job.light, vram_mb = p_job.vram_mb,
      requires = p_job.requires, on_failure = p_job.on_failure,
      begun = case when p_job.at_most_once then false end,
      login = session_user, acting_for = _qwf.acting_for(), schedule = null
    where j.id = p_there.id;
  elsif p_there.expires_at < v_expires_at or p_there.expires_at is not null and v_expires_at is null
  then  -- an edit must not end with the patience of an earlier caller
    update qwf.jobs j set expires_at = v_expires_at where j.id = p_there.id;
  end if;
  if num_nonnulls(p_there.expires_at, v_expires_at) > 0 then
    delete from qwf.waits w where w.job_id = p_there.id and v_expires_at is null;
    perform _qwf.add_waits(array[p_there.id]);
  end if;
  if v_start_by < v_bound or (p_there.status = 'scheduled') <> v_later
    or v_later and v_run_at <> p_there.run_at
  then
    update qwf.jobs j set
      status = case when v_later then 'scheduled' else 'queued' end::qwf.job_status,
      run_at = case when v_later then v_run_at end,
      options.start_by = case
        when v_bound is not null or p_job.debounce is not null then v_start_by end,
      position = case when not v_later then coalesce(j.position, _qwf.next_position()) end,
      queued_at = case when not v_later then coalesce(j.queued_at, v_now) end
    where j.id = p_there.id;
  end if;
  return case when v_later then v_run_at end;
end $$;
