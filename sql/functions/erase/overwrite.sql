-- Personal data overwritten, table by table. Callers hold the locks of the jobs and of their
-- runs.

-- Overwrites what is personal in the rows of jobs and runs, and remembers which parts. A key
-- that is erased is free again, also one that was taken once and for all.
-- Locks: expects the jobs and their runs locked by the caller, and ended.
create function _qwf.erase_jobs(p_jobs bigint[], p_parts text[], p_mark jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_keys boolean := 'key' = any (p_parts);
  v_args boolean := 'args' = any (p_parts);
  v_labels boolean := 'labels' = any (p_parts);
  v_output boolean := 'output' = any (p_parts);
  v_errors boolean := 'errors' = any (p_parts);
  v_who boolean := 'acting_for' = any (p_parts);
begin
  update qwf.jobs j set
    inputs = _qwf.erased(v_args, j.inputs, p_mark),
    resolved_inputs = _qwf.erased(v_args, j.resolved_inputs, p_mark),
    output = _qwf.erased(v_output, j.output, p_mark),
    input_spec = _qwf.erased('questions' = any (p_parts), j.input_spec, p_mark),
    labels = _qwf.erased(v_labels, j.labels, p_mark),
    last_error = case when v_errors and j.last_error is not null then p_mark::text
      else j.last_error end,
    key = case when v_keys then null else j.key end,
    key_state = case when v_keys then 'u' else j.key_state end,
    once = j.once and not v_keys,
    limit_by = case when v_keys then null else j.limit_by end,
    limit_place = case when v_keys then null else j.limit_place end,
    acting_for = case when v_who then null else j.acting_for end,
    erased_parts = array(
      select distinct u from unnest(j.erased_parts || p_parts) u order by u)
  where j.id = any (p_jobs);
  update qwf.job_progress p set message = null
  where 'logs' = any (p_parts) and p.job_id = any (p_jobs);
  update qwf.runs r set
    context = _qwf.erased('context' = any (p_parts), r.context, p_mark),
    labels = _qwf.erased(v_labels, r.labels, p_mark),
    error = case when v_errors and r.error is not null then p_mark::text else r.error end,
    out_dir = case when v_output then null else r.out_dir end,
    key = case when v_keys then null else r.key end,
    once = r.once and not v_keys,
    acting_for = case when v_who then null else r.acting_for end
  where r.id = any (_qwf.runs_of_jobs(p_jobs));
  delete from qwf.failure_marks m  -- what people have noted about such errors
  where v_errors and m.task in (select j.task from qwf.jobs j where j.id = any (p_jobs));
end $$;

-- Returns the mark of what is erased in place of a value, or the value. Where there is nothing
-- (null, or an empty object), there is no mark.
create function _qwf.erased(p_erase boolean, p_value jsonb, p_mark jsonb) returns jsonb
language sql immutable
as $$
  select case when p_erase and p_value <> '{}' then p_mark else p_value end
$$;

-- Overwrites what is personal in the history of jobs: attempts, logs, files, checkpoints,
-- tracked numbers, answers. Numbers of attempts stay. The rows of files go: the caller has
-- returned them.
-- Locks: expects the jobs and their runs locked by the caller, and ended.
create function _qwf.erase_history(p_jobs bigint[], p_parts text[], p_mark jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_errors boolean := 'errors' = any (p_parts);
  v_logs boolean := 'logs' = any (p_parts);
  v_who boolean := 'acting_for' = any (p_parts);
begin
  update qwf.job_attempts a set
    error = case when v_errors and a.error is not null then p_mark::text else a.error end,
    detail = case when v_errors then _qwf.erased_detail(a.detail, p_mark) else a.detail end,
    log_tail = case when v_logs and a.log_tail is not null then p_mark::text else a.log_tail end
  where a.job_id = any (p_jobs) and (v_errors or v_logs);
  update qwf.input_answers a set
    value = _qwf.erased('answers' = any (p_parts), a.value, p_mark),
    acting_for = case when v_who then null else a.acting_for end
  where a.job_id = any (p_jobs) and p_parts && '{answers,acting_for}';
  update qwf.outbox o set error = p_mark::text
  where o.run_id = any (_qwf.runs_of_jobs(p_jobs))
    and o.error is not null and v_errors;
  delete from qwf.live_logs l where l.job_id = any (p_jobs) and v_logs;
  update qwf.checkpoints c set value = p_mark
  where c.job_id = any (p_jobs) and 'output' = any (p_parts);
  delete from qwf.attempt_series s where s.job_id = any (p_jobs) and 'output' = any (p_parts);
  delete from qwf.run_files f where f.job_id = any (p_jobs) and 'output' = any (p_parts);
  delete from qwf.cancel_requests c
  where c.job_id = any (p_jobs) and p_parts && '{events,acting_for}';
end $$;

-- Returns of the detail of an event or an attempt what says nothing of a person: numbers, truth
-- values, and the state in which a run ended; and the mark of what is erased.
create function _qwf.erased_detail(p_detail jsonb, p_mark jsonb) returns jsonb
language sql immutable
as $$
  select case when p_detail = '{}' then p_detail else p_mark || coalesce((
    select jsonb_object_agg(d.key, d.value)
    from jsonb_each(p_detail) d
    where jsonb_typeof(d.value) in ('number', 'boolean')
      or d.key = 'status' and d.value <@ '["completed", "failed", "cancelled"]'), '{}') end
$$;

-- Overwrites what is personal in the events of jobs and of their runs. Kind, time, number,
-- subject, numbers, and how a run ended stay. Numbering and pruning lock the rows in the same
-- order, by id.
-- Locks: the events, by id; expects the jobs and their runs locked by the caller, and ended.
create function _qwf.erase_events(p_jobs bigint[], p_parts text[], p_mark jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_events bigint[];
begin
  if not p_parts && '{events,acting_for}' then
    return;
  end if;
  v_events := array(
    select e.id from _qwf.event_log e where e.job_id = any (p_jobs)
    union
    select e.id from _qwf.event_log e where e.run_id = any (_qwf.runs_of_jobs(p_jobs)));
  perform e.id from _qwf.event_log e
  where e.id = any (v_events)
  order by e.id
  for no key update;
  update _qwf.event_log e set
    detail = case when 'events' = any (p_parts) then _qwf.erased_detail(e.detail, p_mark)
      else e.detail end,
    acting_for = case when 'acting_for' = any (p_parts) then null else e.acting_for end
  where e.id = any (v_events);
end $$;

-- Overwrites what alerts have of the erased jobs and their runs: the alerts, the messages, and
-- the arguments of the jobs that deliver them. A message that waits for its delivery goes out
-- without what it was about; one that an agent has at this moment is out of reach. Rules, counts
-- and times stay. An alert that is named after a label is closed, in silence.
-- Locks: the alerts and messages; the jobs of the messages that do not run, by id.
create function _qwf.erase_alerts(p_jobs bigint[], p_parts text[], p_mark jsonb) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_runs bigint[] := array(
    select distinct j.run_id from qwf.jobs j where j.id = any (p_jobs) and j.run_id is not null);
  v_sent bigint[];
begin
  if not 'events' = any (p_parts) then
    return;
  end if;
  update qwf.open_alerts o set subject = '$erased', key = 'erased ' || o.id,
    closed_at = coalesce(o.closed_at, qwf.now()), send_at = null, close_at = null,
    waits_since = null
  where (o.run_id = any (v_runs) or o.job_id = any (p_jobs))
    and not exists (  -- else a name of the program
      select from qwf.alerts a
      where a.name = o.rule and not starts_with(a.rule ->> 'by', 'label.'));
  with erased as (
    update qwf.alert_messages m set subject = '$erased'
    where m.run_id = any (v_runs) or m.job_id = any (p_jobs)
    returning m.sent_job, m.sent_run
  )
  select array_agg(j.id order by j.id) into v_sent
  from erased e join qwf.jobs j on j.id = e.sent_job or j.run_id = e.sent_run;
  perform from qwf.jobs j where j.id = any (v_sent) and j.status <> 'running'
  order by j.id for no key update skip locked;
  update qwf.jobs j set
    inputs = case when j.inputs #> '{message}' is not null then jsonb_set(j.inputs, '{message}',
      j.inputs -> 'message' || p_mark || '{"detail": {}, "names": {}, "subject": "$erased"}')
      when j.inputs ? 'alert' then jsonb_set(j.inputs, '{alert}', p_mark) else j.inputs end
  where j.id = any (v_sent) and j.status <> 'running';
end $$;

-- Deletes the kept signals that the erased steps wait for or have taken in an earlier try, or
-- who sent them. A later step of their name waits for a new signal. An earlier try is known for
-- as long as its events are kept.
-- Locks: expects the jobs and their runs locked by the caller; the signals.
create function _qwf.erase_signals(p_jobs bigint[], p_parts text[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_signals bigint[] := array(
    select s.id
    from (
      select j.project, j.input_spec ->> 'signal' as name from qwf.jobs j
      where j.id = any (p_jobs) and j.input_spec ? 'signal'
      union
      select j.project, e.detail ->> 'signal'
      from _qwf.event_log e join qwf.jobs j on j.id = e.job_id
      where e.job_id = any (p_jobs) and e.kind = 'question_answered' and e.detail ? 'signal'
    ) asked
    join qwf.signals s on s.project = asked.project and s.name = asked.name);
begin
  delete from qwf.signals s where 'answers' = any (p_parts) and s.id = any (v_signals);
  update qwf.signals s set acting_for = null
  where 'acting_for' = any (p_parts) and s.id = any (v_signals);
end $$;

-- Deletes the starts and holds of keys that only ended jobs have named. A key that a job of
-- another state still names is kept: it is in the row of that job, too. So is one that a claim
-- or a tick holds; a tick deletes it when its starts no longer count. Notices: how many are kept
-- because a claim or a tick holds them.
-- Locks: the row of the key in hash_locks, tried only; rows of limit_keys.
create function _qwf.erase_limit_keys(p_names text[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_held bigint;
begin
  delete from qwf.limit_keys k
  where k.name = any (p_names)
    and (select true from _qwf.hash_locks h
      where h.number = _qwf.limit_place(k.name) & 16383 for update skip locked)
    and not exists (
      select from qwf.jobs j where j.limit_by = k.name and j.finished_at is null);
  delete from qwf.limit_holds h
  where h.name = any (p_names) and not exists (
    select from qwf.jobs j where j.limit_by = h.name and j.finished_at is null);
  select count(*) into v_held from qwf.limit_keys k
  where k.name = any (p_names) and not exists (
    select from qwf.jobs j where j.limit_by = k.name and j.finished_at is null);
  if v_held > 0 then
    raise notice 'names of % limit keys stay for now', v_held
      using detail = 'a claim or a tick holds them at this moment',
        hint = 'a tick deletes them when their starts no longer count';
  end if;
end $$;
