-- Signals received, and the steps that wait for them. Locks: the signal, then runs that are
-- free, then as for an answer.

create type _qwf.signal_answers as (found int, answered int);
comment on type _qwf.signal_answers is
  'How many steps that wait for a signal were found, and how many of them it has answered.';

-- Tells all runs of a project about something outside: steps that wait for this name complete
-- with the payload, in the caller's transaction. It is kept for steps that ask later, which read
-- the newest that fits, so it can come early, and twice. A step whose schema it does not fit
-- goes on waiting. It answers 100 steps at once, and the tick the others.
-- Locks: as _serve_signal.
-- Notifies: sleepers of the queues that got work.
-- Raises: QW005 for an invalid name, payload or time, and for the 1001st kept signal of a name.
create function qwf.signal(
  name text, payload jsonb default '{}', project text default '',
  keep_for interval default '1 day')
returns int
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
  v_payload jsonb := coalesce(signal.payload, 'null');
  v_problem text := case
    when _qwf.is_readable_name(signal.name) is not true
      then 'name: must have 1 to 255 bytes that people can read'
    when signal.project is null then 'project: must not be null'
    when _qwf.is_duration(signal.keep_for, '366 days', p_least => '1 min') then null
    else format('keep_for: must be 1 minute to 366 days, not %s',
      coalesce(signal.keep_for::text, 'null')) end;
  v_signal qwf.signals;
begin
  if v_problem is not null then
    raise exception using errcode = 'QW005', message = 'invalid signal', detail = v_problem,
      hint = 'send it like this: select qwf.signal(''paid:4711'', ''{"status": "ok"}'')';
  end if;
  perform _qwf.check_text('project', signal.project);
  perform _qwf.check_json('payload', v_payload, s.max_value_bytes) from qwf.settings s;
  if 1000 = (
    select count(*) from (
      select from qwf.signals s
      where s.project = signal.project and s.name = signal.name and s.keep_until > v_now
      limit 1000) kept)
  then
    raise exception using errcode = 'QW005', message = 'too many signals of one name',
      detail = format('1000 signals %s of project %L are kept', signal.name, signal.project),
      hint = 'give them a shorter keep_for; for a stream of things enqueue a job for each';
  end if;
  insert into qwf.signals as s (
    project, name, payload, sent_at, keep_until, look_at)
  values (
    signal.project, signal.name, v_payload, v_now,
    v_now + extract(epoch from signal.keep_for) * interval '1 s', v_now)
  returning s.* into v_signal;
  return (_qwf.serve_signal(v_signal, 100)).answered;
end $$;
comment on function qwf.signal is
  'Completes the input steps of the project that wait for the signal of this name with the '
  'payload, if it fits their schema; returns how many, at most 100: the tick completes the others. '
  'It is kept for steps that ask within keep_for (1 minute to 366 days): they read the newest of '
  'its name that fits. QW005 for an invalid name, payload or time, and beyond 1000 kept ones.';
call _qwf.allow('qwf.signal', 'qwf_producer');

-- Answers steps that wait for a signal, and lets their runs go on. Waits for nobody: a step
-- whose run is locked is left to the tick. A step whose schema the signal does not fit goes on
-- waiting, and is not looked at again for this signal. A step that a newer signal fits is left
-- to that one. If a run cannot go on, the others do.
-- Locks: runs that nobody has locked; then as answer_job.
-- Notifies: sleepers of the queues that got work.
create function _qwf.serve_signal(p_signal qwf.signals, p_max int) returns _qwf.signal_answers
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_found bigint[];
  v_jobs bigint[];
  v_newer bigint[];
  v_job bigint;
  v_count int := 0;
begin
  v_found := array(
    select w.job_id
    from qwf.waits w join qwf.jobs j on j.id = w.job_id join qwf.runs r on r.id = j.run_id
    where w.kind = 'signal' and w.project = p_signal.project and w.name = p_signal.name
      and p_signal.id <> all (coalesce(w.refused, '{}'))
    order by w.job_id
    limit p_max
    for no key update of r skip locked);
  if v_found = '{}' then
    return (0, 0);
  end if;
  select array_agg(j.id order by j.id) into v_jobs
  from qwf.jobs j  -- again, under the locks: an answer may have come first
  where j.id = any (v_found) and j.status = 'awaiting_input' and j.queue is null
    and not _qwf.is_obsolete(j.run_id, j.run_if, j.parent_id)
    and not exists (select from _qwf.answer_problems(j.input_spec, p_signal.payload));
  update qwf.waits w set refused = (p_signal.id || w.refused)[:1000]
  where w.job_id = any (v_found) and w.job_id <> all (coalesce(v_jobs, '{}'))
    and w.kind = 'signal';
  v_newer := array(
    select j.id from qwf.jobs j
    where j.id = any (v_jobs) and exists (
      select from qwf.signals n
      where n.project = p_signal.project and n.name = p_signal.name and n.id > p_signal.id
        and n.keep_until > qwf.now()
        and not exists (select from _qwf.answer_problems(j.input_spec, n.payload))));
  v_jobs := array(select id from unnest(v_jobs) id where id <> all (v_newer) order by id);
  begin
    perform _qwf.apply_signal(v_jobs, p_signal);
    v_count := coalesce(cardinality(v_jobs), 0);
  exception
    when others then  -- one run cannot go on: each by itself
      foreach v_job in array v_jobs loop
        begin
          perform _qwf.apply_signal(array[v_job], p_signal);
          v_count := v_count + 1;
        exception
          when others then
            raise warning using message = 'a step cannot go on with its signal',
              detail = format('job %s: %s %s', v_job, sqlstate, sqlerrm);
        end;
      end loop;
  end;
  return (cardinality(v_found), v_count);
end $$;

-- Completes steps with a signal, and applies what follows to their runs.
-- Locks: expects the runs of the jobs locked by the caller.
-- Notifies: sleepers of the queues that got work.
create function _qwf.apply_signal(p_jobs bigint[], p_signal qwf.signals) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_answered _qwf.event[];
  v_runs bigint[];
begin
  select array_agg((j.run_id, j.id, 'answered')::_qwf.event order by j.id),
    array_agg(distinct j.run_id)
    into v_answered, v_runs
  from qwf.jobs j where j.id = any (p_jobs);
  if v_runs is not null then
    perform _qwf.complete_with_signal(p_jobs, p_signal);
    perform _qwf.apply_events(_qwf.take_events(v_runs) || v_answered);
  end if;
end $$;

-- Answers the steps that a signal has not answered when it was sent: because there were many,
-- their runs were locked, or neither had seen the other. Reads only signals that may have such
-- steps, however many steps wait. A signal is done with when no step is left for it, and every
-- transaction has ended that was open when a tick first saw it: each that began later sees it.
-- While one stays open, the looks become rarer.
-- Locks: signals and waits that nobody has locked; then as _serve_signal.
create function _qwf.match_signals(p_max int default 1000) returns int
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_hashjoin = off
set enable_mergejoin = off
set enable_sort = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_xmin constant xid8 := pg_snapshot_xmin(pg_current_snapshot());
  v_signal qwf.signals;
  v_served _qwf.signal_answers;
  v_left int := p_max;
  v_count int := 0;
  v_more boolean;
  v_late record;
  v_free bigint[];
begin
  for v_late in  -- steps that began to wait with an older snapshot may not have seen a signal
    select w.job_id, w.project, w.name from qwf.waits w
    where w.kind = 'signal' and -1 = any (w.refused)
    limit 1000
    for no key update skip locked
  loop
    v_free := array(
      select f.id from qwf.signals f
      where f.project = v_late.project and f.name = v_late.name
      for no key update skip locked);
    continue when cardinality(v_free) < (
      select count(*) from qwf.signals s
      where s.project = v_late.project and s.name = v_late.name);
    update qwf.signals s set look_at = v_now, horizon = null where s.id = any (v_free);
    update qwf.waits w set refused = array_remove(w.refused, -1)
    where w.job_id = v_late.job_id and w.kind = 'signal';
  end loop;
  for v_signal in
    select s.* from qwf.signals s
    where s.look_at <= v_now
    order by s.look_at
    limit p_max
    for no key update skip locked
  loop
    exit when v_left <= 0;
    v_more := false;
    if v_signal.keep_until > v_now then
      v_served := _qwf.serve_signal(v_signal, v_left);
      v_left := v_left - v_served.found;
      v_count := v_count + v_served.answered;
      v_more := exists (
        select from qwf.waits w
        where w.kind = 'signal' and w.project = v_signal.project and w.name = v_signal.name
          and v_signal.id <> all (coalesce(w.refused, '{}')));
    end if;
    update qwf.signals s set  -- a horizon above is of a server that this one was restored from
      horizon = least(s.horizon, pg_snapshot_xmax(pg_current_snapshot())),
      look_at = case
        when v_more then v_now
        when s.horizon <= v_xmin then null
        else v_now + greatest('0.5 s', least(v_now - s.sent_at, '5 min')) end
    where s.id = v_signal.id;
  end loop;
  return case when v_left <= 0 then p_max else least(v_count, 99) end;
end $$;
