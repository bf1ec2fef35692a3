-- Reports of workers about the ends of attempts. The ordinary report is written here in one
-- statement. Locks: the reported jobs (by id), then runs that are free (by id), then jobs of
-- those runs.

create type qwf.report_verdict as (job_id bigint, verdict text, pending boolean);
comment on type qwf.report_verdict is
  'Answer to one report: ok or lost. pending: consequences were left in the outbox, so call '
  'drain_outbox() soon.';

create type _qwf.report_terms as (
  dropping text[], max_output int, max_detail int);
comment on type _qwf.report_terms is
  'The terms of a call of finish_many. dropping: queues that keep no completed jobs; max_output, '
  'max_detail: how many bytes an ordinary report may have.';

create type _qwf.job_key as (project text, task text, key text);
comment on type _qwf.job_key is 'The columns that must be unique of a standalone job.';

create type _qwf.finished as (
  count int, ids bigint[], dropped uuid[], keys _qwf.job_key[], events _qwf.event[],
  pending bigint[], places bigint[]);
comment on type _qwf.finished is
  'Attempts that a call has ended: how many, the jobs, the tokens of those that left no row, the '
  'keys and the events of the jobs, the runs whose events wait in the outbox, and the '
  'places of the keys of limits that got room. Null: none.';

-- Takes a worker's report about one attempt that ended. As finish_many with one report.
-- Locks: as finish_many.
-- Notifies: as finish_many.
create function qwf.finish(
  job_id bigint, token uuid, outcome text, output jsonb default '{}', error text default null,
  detail jsonb default '{}')
returns text
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
begin
  return (
    select v.verdict
    from qwf.finish_many(jsonb_build_array(jsonb_build_object(
      'job_id', finish.job_id, 'token', finish.token, 'outcome', finish.outcome,
      'output', finish.output, 'error', finish.error, 'detail', finish.detail))) v);
end $$;
comment on function qwf.finish is
  'Reports the end of an attempt: completed, error, fatal, tempfail, lost, released or cancelled. '
  'Returns ok, or lost when the token is not the current one; QW005 for an unknown outcome.';
call _qwf.allow('qwf.finish', 'qwf_worker');

-- Takes a worker's reports about attempts that ended. The fence: only a report with the job's
-- current token changes anything, and the first of two counts. State, attempt and event are
-- written in one transaction. A stale token is answered lost; a repeated report ok, unless its
-- job left no row. An error while fanning out never undoes the end of a job: the event waits in
-- the outbox. If one report is not ordinary, all go through _end_attempts.
-- Locks: the reported jobs (by id), then the runs that are free (by id), then jobs of those
--   runs.
-- Notifies: sleepers of queues that got work; workers whose bodies have to stop.
create function qwf.finish_many(reports jsonb) returns setof qwf.report_verdict
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_material = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
  v_is _qwf.report_terms;
  v_leaving bigint; v_jobs bigint;
  v_done _qwf.finished;
begin
  select array(select q.name from qwf.queues q where not q.keep_completed),
    least(1000, s.max_value_bytes), least(4000, s.max_log_bytes) into v_is
  from qwf.settings s;
  begin
    if v_is.dropping <> '{}' then
      select count(*) filter (where j.queue = any (v_is.dropping) and j.run_id is null
          and not j.once), count(*)
        into v_leaving, v_jobs
      from qwf.jobs j  -- that leave no row when they complete
      where j.id = any (array(
        select (r.value ->> 'job_id')::bigint
        from jsonb_array_elements(finish_many.reports) r));
    end if;
    if v_leaving > 0 and v_leaving = v_jobs then
      v_done := _qwf.drop_completed(finish_many.reports, v_is, v_now);
    elsif v_leaving > 0 is not true then  -- of a mix, _end_attempts locks all by id
      with report as materialized (
        select u.job_id, u.token, coalesce(u.output, '{}') as output,
          coalesce(u.detail, '{}') as detail,
          _qwf.is_ordinary(u.value, u.outcome, u.output, u.error, u.detail,
            v_is.max_output, v_is.max_detail) as ordinary
        from rows from (
          jsonb_to_recordset(finish_many.reports) as (
            job_id bigint, token uuid, outcome text, output jsonb, error text, detail jsonb),
          jsonb_array_elements(finish_many.reports)
          ) with ordinality u (job_id, token, outcome, output, error, detail, value, ord)
        order by u.job_id, u.ord
      ), ended as (
        update qwf.jobs j set
          status = 'completed', output = r.output, run_at = null, finished_at = v_now,
          last_error = null, token = null, lease_expires_at = null
        from report r
        where (select bool_and(o.ordinary) from report o) and j.id = r.job_id and j.token = r.token
        returning j.id, j.run_id, j.queue, j.task, j.attempt, r.token, j.claimed_by, j.queued_at,
          j.claimed_at, r.detail, j.project, j.key, j.key_state, j.limit_place
      ), attempted as (
        insert into qwf.job_attempts (job_id, attempt, token, worker, queued_at, started_at,
          finished_at, outcome, log_tail, detail)
        select e.id, e.attempt, e.token, e.claimed_by, e.queued_at, e.claimed_at, v_now,
          'completed', e.detail ->> 'log_tail', e.detail - 'log_tail'
        from ended e
      ), counted as (
        insert into qwf.attempt_counts (minute, queue, task, outcome, waits, runs)
        select date_bin('1 minute', v_now, 'epoch'), e.queue, e.task, 'completed',
          array_agg(date_part('epoch', e.claimed_at - e.queued_at)::real),
          array_agg(coalesce(_qwf.as_number(e.detail -> 'body_s', 1e9),
            date_part('epoch', v_now - e.claimed_at))::real)
        from ended e group by e.queue, e.task
      )
      select
        count(*), array_agg(e.id), null,
        array_agg((e.project, e.task, e.key)::_qwf.job_key) filter (where e.key_state = 's'),
        array_agg((e.run_id, e.id, 'completed')::_qwf.event) filter (where e.run_id is not null),
        null, array_agg(e.limit_place) filter (where e.limit_place is not null) into v_done
      from ended e;
    end if;
  exception
    when data_exception then
      perform _qwf.raise_malformed_report(finish_many.reports, p_if_malformed => true); raise;
  end;
  if coalesce(v_done.count, 0) = 0 then  -- not ordinary, or stale
    v_done := _qwf.end_attempts(_qwf.read_reports(finish_many.reports));
  elsif v_done.events is not null or v_done.keys is not null or v_done.places is not null
    -- now: a limit that was made meanwhile has given running jobs their slots
    or (select true from qwf.limit_slots l where l.job_id is not null limit 1)
  then
    v_done := _qwf.after_ends(v_done);
  end if;
  if v_done.count is distinct from jsonb_array_length(finish_many.reports)
    or v_done.pending is not null
  then
    return query select * from _qwf.answer_reports(finish_many.reports, v_done);
  elsif v_done.count = 1 then  -- one needs no statement
    return next (v_done.ids[1], 'ok', false)::qwf.report_verdict;
  else
    return query select (r.value ->> 'job_id')::bigint, 'ok', false
    from jsonb_array_elements(finish_many.reports) r;
  end if;
end $$;
comment on function qwf.finish_many is
  'Takes a JSON list of reports {job_id, token, outcome, output, error, detail} and answers ok or '
  'lost for each; pending says to call drain_outbox() soon. detail may have reason, exit_code, '
  'signal, max_rss_bytes, cpu_seconds, body_s, gpu_peak_bytes, log_tail, host, readings, '
  'retry_after_s, usage, batch, and files as a list of {rel_path, kind, size_bytes}; QW005 for a '
  'malformed report or an unknown key.';
call _qwf.allow('qwf.finish_many', 'qwf_worker');

-- Ends attempts that completed and leave no row: deletes the job and everything kept about it,
-- and counts the attempt. As the statement of finish_many: deletes nothing if one report is not
-- ordinary. A stale token deletes nothing. The caller has seen that all jobs leave no row.
-- Locks: the jobs, by id.
create function _qwf.drop_completed(
  p_reports jsonb, p_terms _qwf.report_terms, p_now timestamptz)
returns _qwf.finished
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ended _qwf.finished;
  v_retried bigint[];
begin
  with report as materialized (
    select u.job_id, u.token, u.detail,
      _qwf.is_ordinary(u.value, u.outcome, u.output, u.error, u.detail,
        p_terms.max_output, p_terms.max_detail) as ordinary
    from rows from (
      jsonb_to_recordset(p_reports) as (
        job_id bigint, token uuid, outcome text, output jsonb, error text, detail jsonb),
      jsonb_array_elements(p_reports)
      ) with ordinality u (job_id, token, outcome, output, error, detail, value, ord)
    order by u.job_id, u.ord
  ), ended as (
    delete from qwf.jobs j
    using report r
    where (select bool_and(o.ordinary) from report o) and j.id = r.job_id and j.token = r.token
    returning j.id, r.token, j.attempt, j.queue, j.task, j.queued_at, j.claimed_at, j.project,
      j.key, j.key_state, j.limit_place, r.detail
  ), counted as (
    insert into qwf.attempt_counts (minute, queue, task, outcome, waits, runs)
    select date_bin('1 minute', p_now, 'epoch'), e.queue, e.task, 'completed',
      array_agg(date_part('epoch', e.claimed_at - e.queued_at)::real),
      array_agg(coalesce(_qwf.as_number(e.detail -> 'body_s', 1e9),
        date_part('epoch', p_now - e.claimed_at))::real)
    from ended e
    group by e.queue, e.task
  )
  select
    count(*), array_agg(e.id), array_agg(e.token),
    array_agg((e.project, e.task, e.key)::_qwf.job_key) filter (where e.key_state = 's'), null,
    array_agg(e.limit_place) filter (where e.limit_place is not null),
    array_agg(e.id) filter (where e.attempt > 1)
    into v_ended.count, v_ended.ids, v_ended.dropped, v_ended.keys, v_ended.events,
      v_ended.places, v_retried
  from ended e;
  delete from qwf.live_logs l where l.job_id = any (v_ended.ids);
  v_retried := v_retried || array(
    select p.job_id from qwf.job_progress p where p.job_id = any (v_ended.ids));
  if v_retried <> '{}' then
    perform _qwf.delete_jobs(v_retried);
  end if;
  return v_ended;
end $$;

-- True for a report that can be written as it came: completed, with a small output, and with
-- nothing in it to cut, to refuse or to store elsewhere. False for everything that _read_reports
-- would refuse or change. One expression without a pinned search_path, so that the planner
-- inlines it: a finish of one job costs 1.7 times as much otherwise.
create function _qwf.is_ordinary(
  p_report jsonb, p_outcome text, p_output jsonb, p_error text, p_detail jsonb,
  p_max_output int, p_max_detail int)
returns boolean
language sql stable
as $$
  select coalesce(p_outcome = 'completed' and p_error is null
    and p_report - '{job_id,token,outcome,output,error,detail}'::text[] = '{}'
    and (p_output is null
      or jsonb_typeof(p_output) = 'object' and octet_length(p_output::text) <= p_max_output)
    and (p_detail is null
      or jsonb_typeof(p_detail) = 'object' and pg_column_size(p_detail) <= p_max_detail
      and p_detail - '{reason,exit_code,signal,max_rss_bytes,cpu_seconds,gpu_peak_bytes,log_tail,
        host,retry_after_s,usage,batch,body_s}'::text[] = '{}'), false)
$$;

-- Raises QW005 and shows the report of a list that is malformed, or its unknown key.
-- Raises: QW005; not if p_if_malformed is given and every report is well formed.
create function _qwf.raise_malformed_report(
  p_reports jsonb, p_if_malformed boolean default false)
returns void
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_known constant text[] := '{job_id,token,outcome,output,error,detail}';
  v_bad jsonb;
  v_twice boolean := jsonb_typeof(p_reports) = 'string';  -- the whole list
begin
  if jsonb_typeof(p_reports) = 'array' then
    perform _qwf.check_keys(format('[%s].', r.n - 1), r.value, v_known)
    from jsonb_array_elements(p_reports) with ordinality r (value, n)
    where case jsonb_typeof(r.value) when 'object' then r.value - v_known <> '{}' end;
    select r.value into v_bad from jsonb_array_elements(p_reports) r
    where jsonb_typeof(r.value) <> 'object'
      or coalesce(r.value ->> 'job_id', '') !~ '^[0-9]{1,18}$'
      or r.value ->> 'token' !~* '^[0-9a-f]{8}-([0-9a-f]{4}-){3}[0-9a-f]{12}$'
      or coalesce(r.value ->> 'outcome', '') not in (
        'completed', 'error', 'fatal', 'tempfail', 'lost', 'released', 'cancelled')
      or jsonb_typeof(coalesce(r.value -> 'detail', '{}')) not in ('object', 'null')
    limit 1;
    if not found then
      select r.value into v_bad from jsonb_array_elements(p_reports) r
      where _qwf.is_quoted_twice(r.value ->> 'outcome', r.value -> 'output') limit 1;
      v_twice := found;
    end if;
    if p_if_malformed and v_bad is null then
      return;
    end if;
  end if;
  raise exception using errcode = 'QW005', message = 'malformed report',
    detail = coalesce(_qwf.excerpt(coalesce(v_bad, p_reports), 300), 'null'),
    hint = case when v_twice then 'your driver has made a JSON string of text that was JSON '
        'already: write $1::text::jsonb; no report of this call is written, send them again'
      else 'a report has job_id, the token of the claim, and an outcome: completed, error, '
      'fatal, tempfail, lost, released or cancelled; no report of this call is written: send '
      'each in a call of its own' end;
end $$;

-- True if the output of a completed body is a JSON string that holds an object or null: a driver
-- has turned text that was JSON into JSON again. The body has done its work, so the report is
-- refused and can be sent again; an output of another type fails the job.
create function _qwf.is_quoted_twice(p_outcome text, p_output jsonb) returns boolean
language sql immutable
as $$
  select coalesce(p_outcome = 'completed' and jsonb_typeof(p_output) = 'string'
    and p_output #>> '{}' ~ '^[[:space:]]*([{].*[}]|null)[[:space:]]*$', false)
$$;

-- Does what follows from the end of attempts: frees slots, wakes for keys and for keys of
-- limits, moves runs on. Returns p_done with the runs for which something waits in the outbox.
-- Waits for no run, as its caller holds jobs: the events of a run that is locked are left in the
-- outbox. Every event is applied or there when the transaction commits: an error while applying
-- rolls back to before the run locks, and the events wait for drain_outbox.
-- Locks: slots, then runs (by id) that are free, their outbox events, jobs of those runs.
-- Notifies: sleepers of the queues that got work, or where jobs wait for a slot, a key, or room
--   of a key of a limit.
create function _qwf.after_ends(p_done _qwf.finished) returns _qwf.finished
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_locked bigint[];
  v_events _qwf.event[];
  v_left _qwf.event[] := '{}';
  v_error text;
  v_waits boolean;
begin
  if (select true from qwf.limit_slots l where l.job_id is not null limit 1) then
    perform _qwf.release_slots(p_done.ids);
  end if;
  if p_done.keys is not null then
    perform _qwf.wake(n.queue, count(*)::int)
    from unnest(p_done.keys) s
    cross join lateral (  -- from the index jobs_key
      select o.queue from qwf.jobs o
      where o.project = s.project and o.task = s.task and o.key = s.key and o.key is not null
        and (o.key_state = 's') = false and o.status = 'queued'
    ) n
    group by n.queue;
  end if;
  if p_done.places is not null then
    perform _qwf.wake_for_keys(p_done.places);
  end if;
  if p_done.events is null then
    return p_done;
  end if;
  begin
    v_events := p_done.events;
    v_locked := array(
      select r.id from qwf.runs r
      where r.id = any (array(select e.run_id from unnest(p_done.events) e))
      order by r.id
      for no key update skip locked);
    if cardinality(v_locked) < cardinality(p_done.events) then  -- else each is about another run
      v_left := array(select e from unnest(p_done.events) e where e.run_id <> all (v_locked));
      v_events := array(select e from unnest(p_done.events) e where e.run_id = any (v_locked));
    end if;
    if (select true from qwf.outbox o where o.run_id = any (v_locked) limit 1) then
      v_events := _qwf.take_events(v_locked) || v_events;
    end if;
    v_waits := _qwf.apply_events(v_events);
  exception
    -- a statement timeout is also an error of the fan-out only
    when others or query_canceled then
      v_left := p_done.events;
      v_error := sqlstate || ' ' || sqlerrm;
  end;
  if v_left = '{}' then
    p_done.pending := case when v_waits then v_locked end;
    return p_done;
  end if;
  insert into qwf.outbox (run_id, job_id, kind, error)
  select e.run_id, e.job_id, e.kind, v_error from unnest(v_left) e;
  p_done.pending := array(select distinct e.run_id from unnest(v_left) e);
  return p_done;
end $$;

-- Answers each report of a call of which not all have ended an attempt, or after which something
-- waits for a run. A report that repeats the one which ended an attempt is answered ok, too.
create function _qwf.answer_reports(p_reports jsonb, p_done _qwf.finished)
returns setof qwf.report_verdict
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select
    r.job_id,
    case when r.token = any (p_done.dropped) and r.outcome = 'completed'
        and _qwf.job_of_token(r.token) = r.job_id
      or exists (  -- a token ends one attempt
      select from qwf.job_attempts a
      where a.job_id = r.job_id and a.token = r.token
        and (a.outcome = r.outcome and a.error is not distinct from r.error
          or r.outcome = 'fatal' and a.detail ->> 'reason' = 'older_code')
        and (j.attempt > a.attempt or j.status <> 'completed'
          or j.output is not distinct from r.output)) then 'ok' else 'lost' end,
    coalesce(j.run_id = any (p_done.pending), false)
  from unnest(_qwf.read_reports(p_reports))
    with ordinality r (job_id, token, outcome, output, error, detail, n)
  left join lateral (
    select b.run_id, b.attempt, b.status, b.output
    from qwf.jobs b where b.id = r.job_id offset 0) j on true
  order by r.n
$$;

-- Says what happened next to jobs of which an attempt has failed. One row for each argument
-- whose job exists, in their order. tries counts what the outcome counts: losses for lost, else
-- failures; max_tries is null for fatal, which nothing retries. Once a later attempt has
-- started, the row says queued, and tries and max_tries are null: the counts may be those of the
-- later attempt.
create function qwf.after_failures(jobs bigint[], attempts int[], outcomes text[])
returns table (
  job_id bigint, attempt int, status text, retry_s double precision, tries int, max_tries int
)
language sql stable security definer
set search_path = pg_catalog, pg_temp
as $$
  select j.id, f.attempt,
    case when j.attempt = f.attempt then j.status::text else 'queued' end,
    case when j.attempt = f.attempt and j.status = 'scheduled'
      then greatest(0, extract(epoch from j.run_at - qwf.now())) end,
    case when j.attempt <> f.attempt then null when f.outcome = 'lost' then j.losses
      else j.failures end,
    case
      when j.attempt <> f.attempt then null
      when f.outcome = 'lost' then coalesce((j.options).max_losses, s.max_losses)
      when f.outcome = 'tempfail' then coalesce((j.options).max_attempts, s.transient_attempts)
      when f.outcome = 'error' then coalesce((j.options).max_attempts, s.error_attempts)
    end
  from unnest(after_failures.jobs, after_failures.attempts, after_failures.outcomes)
    with ordinality f (job_id, attempt, outcome, place)
  join qwf.jobs j on j.id = f.job_id
  cross join qwf.settings s
  order by f.place
$$;
comment on function qwf.after_failures is
  'For jobs of which an attempt has failed, with the numbers and outcomes of these attempts: what '
  'status followed, in how many seconds the job runs again, and how many of how many tries it has '
  'had (null once a later attempt has started).';
call _qwf.allow('qwf.after_failures', 'qwf_worker');
