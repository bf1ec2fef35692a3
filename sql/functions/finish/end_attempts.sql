-- Ends of attempts that finish_many does not write in its own statement: unusual reports, lost
-- leases, releases. Locks: jobs by id, their slots, then, without waiting, what events lock.

create type _qwf.report as (
  job_id bigint, token uuid, outcome text, output jsonb, error text, detail jsonb);
comment on type _qwf.report is 'A worker''s report about the end of an attempt.';

create type _qwf.ended as (
  id bigint, run_id bigint, node_id text, queue text, status qwf.job_status, attempt int,
  worker text, token uuid, outcome text, detail jsonb);
comment on type _qwf.ended is
  'A job whose attempt has just ended, with what was reported about it.';

-- Reads and checks the JSON list of reports that a worker sends, and turns an output that cannot
-- be stored into a failure that says so. The same report always reads the same, so that a
-- repeated one is recognised. A missing token counts as a stale one: lost. Each output is
-- measured once (offset 0).
-- Raises: QW005 for anything but a list of objects, for an unknown key (an output under a
--   mistyped key would be lost), for a field of the wrong type, for a report without a job or a
--   known outcome, for a detail that is not an object, and for an output that a driver has
--   quoted twice.
create function _qwf.read_reports(p_reports jsonb) returns _qwf.report[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_reports _qwf.report[];
  v_known constant text[] := '{job_id,token,outcome,output,error,detail}';
  v_valid boolean;
begin
  select
    coalesce(array_agg((
      r.job_id, r.token, case when k.problem is null then r.outcome else 'fatal' end,
      case when r.outcome = 'completed' and k.problem is null
        then coalesce(nullif(r.output, 'null'), '{}') end,
      _qwf.clip(coalesce(k.problem, r.error), s.max_error_bytes),
      coalesce(nullif(r.detail, 'null'), '{}'))::_qwf.report), '{}'),
    coalesce(bool_and(coalesce(r.value - v_known = '{}' and r.job_id >= 0 and r.outcome in (
        'completed', 'error', 'fatal', 'tempfail', 'lost', 'released', 'cancelled')
      and coalesce(jsonb_typeof(r.detail), 'null') in ('object', 'null')
      and not _qwf.is_quoted_twice(r.outcome, r.output), false)), true)
    into v_reports, v_valid
  from rows from (
    jsonb_array_elements(p_reports),
    jsonb_to_recordset(p_reports) as (
      job_id bigint, token uuid, outcome text, output jsonb, error text, detail jsonb)
    ) r (value, job_id, token, outcome, output, error, detail)
  cross join qwf.settings s
  cross join lateral (select case
    when r.outcome <> 'completed' or r.output is null then null
    when jsonb_typeof(r.output) not in ('object', 'null') then
      format('QW005: the output is %s, not an object', jsonb_typeof(r.output))
    when octet_length(r.output::text) > least(1000, s.max_value_bytes) then
      'QW005: the output ' || _qwf.json_problem(r.output, s.max_value_bytes)
      || ': write a file and return its path'
  end offset 0) k (problem);
  if not v_valid or p_reports is null then
    perform _qwf.raise_malformed_report(p_reports);
  end if;
  return v_reports;
exception
  when data_exception then
    perform _qwf.raise_malformed_report(p_reports);
    return null;
end $$;

-- Takes back running jobs whose lease lapsed: the only recovery path for a lost worker. Counts a
-- loss; the job goes to the front of its band, or fails if it has no losses left. The old token
-- is no longer valid. If an end is refused, which a trigger of the site may do, each job is taken
-- back by itself; a refused one says why, is named in a WARNING and waits a minute.
-- Locks: lapsed jobs that are free, without waiting; then as _end_attempts.
create function _qwf.reclaim(p_max_jobs int default 100) returns setof bigint
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_material = off
set jit = off
set plan_cache_mode = force_generic_plan
as $$
declare
  v_now timestamptz := qwf.now();
  v_reports _qwf.report[];
  v_report _qwf.report;
begin
  with lapsed as materialized (
    select j.id, j.token, j.claimed_by, j.lease_expires_at
    from qwf.jobs j
    where j.status = 'running' and j.lease_expires_at < v_now
    order by j.claimed_by, j.id -- by id alone, the primary key may be walked to its end
    limit p_max_jobs
    for no key update skip locked
  )
  select array_agg((l.id, l.token, 'lost', null,
      format('lease of worker %s lapsed at %s', l.claimed_by, l.lease_expires_at),
      jsonb_build_object('reason', 'lease_lapsed'))::_qwf.report) into v_reports
  from lapsed l;
  begin
    perform _qwf.end_attempts(v_reports) where v_reports is not null;
    return query select r.job_id from unnest(v_reports) r;
    return;
  exception
    when others then
      if _qwf.is_passing_error(sqlstate) then raise; end if;
  end;
  foreach v_report in array v_reports loop
    begin
      perform _qwf.end_attempts(array[v_report]);
      return next v_report.job_id;
    exception
      when others then
        if _qwf.is_passing_error(sqlstate) then raise; end if;
        update qwf.jobs j set lease_expires_at = v_now + interval '1 min',
          last_error = left(format('lost, and its end is refused: %s %s', sqlstate, sqlerrm), 1000)
        where j.id = v_report.job_id;
        raise warning using message = 'a lost job cannot be taken back',
          detail = format('job %s: %s %s', v_report.job_id, sqlstate, sqlerrm),
          hint = 'it is tried again every minute, the others do not wait for it';
    end;
  end loop;
end $$;

-- Ends attempts with any outcome, and does what follows. The fence: a report whose token is not
-- the job's current one locks and changes nothing; of two reports about one attempt the first
-- counts. Each job is found by id and token alone, whatever the statistics say: the token is
-- null unless the job is running. All rows of one call end together. A completed job that leaves
-- no row is deleted, unless it wrote files. Returns what has ended.
-- Locks: the jobs (by id), cancel_requests of these jobs that are free; then as _after_ends.
-- Notifies: as _after_ends, and sleepers of the queues that got work back.
create function _qwf.end_attempts(p_reports _qwf.report[]) returns _qwf.finished
language plpgsql
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_material = off
set enable_hashjoin = off
set enable_mergejoin = off
set jit = off
as $$
declare
  v_now timestamptz := qwf.now();
  v_reports _qwf.report[] := array(  -- locked before the statement that writes has its snapshot
    select (r.job_id, r.token, r.outcome, r.output, r.error, r.detail)::_qwf.report
    from (
      select distinct on (u.job_id, u.token) u.*
      from unnest(p_reports)
        with ordinality u (job_id, token, outcome, output, error, detail, ord)
      order by u.job_id, u.token, u.ord
    ) r
    cross join lateral (
      select from qwf.jobs b where b.id = r.job_id and b.token = r.token for no key update) j);
  v_ended _qwf.ended[];
  v_done _qwf.finished;
begin
  if v_reports = '{}' then
    return v_done;
  end if;
  v_ended := _qwf.write_ends(_qwf.weigh_outcomes(v_reports, v_now), v_now);
  perform _qwf.record_unusual(v_ended, v_now);
  perform _qwf.wake(e.queue, count(*)::int)
  from unnest(v_ended) e where e.status = 'queued' group by e.queue;
  perform _qwf.add_waits(t.jobs), _qwf.announce_trouble(t.jobs)
  from (select array_agg(e.id) as jobs from unnest(v_ended) e
    where e.status in ('failed', 'awaiting_input')) t
  where t.jobs is not null;
  delete from qwf.cancel_requests c
  using (  -- tick() deletes those that somebody has locked
    select r.job_id
    from unnest(v_ended) e join qwf.cancel_requests r on r.job_id = e.id
    where e.status in ('completed', 'failed', 'cancelled')
    for update of r skip locked
  ) free
  where c.job_id = free.job_id;
  select count(*), array_agg(e.id),
    array_agg((j.project, j.task, j.key)::_qwf.job_key)
      filter (where e.status <> 'queued' and j.key_state = 's' and j.run_id is null),
    array_agg((e.run_id, e.id, case
        when e.status in ('queued', 'scheduled') then 'requeued'
        when e.status = 'awaiting_input' then 'asked'
        else e.status::text end)::_qwf.event) filter (where e.run_id is not null),
    array_agg(j.limit_place) filter (where j.limit_place is not null),
    array_agg(e.token) filter (where e.outcome = 'completed' and j.run_id is null and not j.once
      and coalesce(e.detail -> 'files', 'null') in ('[]', 'null')
      and (select not q.keep_completed from qwf.queues q where q.name = e.queue))
    into v_done.count, v_done.ids, v_done.keys, v_done.events, v_done.places, v_done.dropped
  from unnest(v_ended) e join qwf.jobs j on j.id = e.id;
  if v_done.dropped is not null then
    perform _qwf.delete_jobs(array(select _qwf.job_of_token(t) from unnest(v_done.dropped) t));
  end if;
  return _qwf.after_ends(v_done);
end $$;

-- Writes the end of attempts in one statement: the jobs, the attempts and the statistics. Each
-- row is updated at the ctid where it was locked. A job avoids its host for a while only after a
-- loss, a failing accelerator, a full disk or older code. The reason of a cancel request is read
-- before _end_attempts deletes the request. A standalone job without an on_failure of its own
-- does what its queue says at this moment. No attempt of the engine's own queues is counted.
-- Locks: the caller has locked the jobs.
create function _qwf.write_ends(p_reports _qwf.report[], p_now timestamptz) returns _qwf.ended[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_ended _qwf.ended[];
begin
  with held as materialized (
    select j.*, r.token, r.outcome, r.output, r.error, r.detail
    from unnest(p_reports) r
    cross join lateral (
      select b.ctid as row, b.id, b.run_id, b.queue, b.task, b.attempt, b.claimed_by, b.queued_at,
        b.claimed_at, b.run_if, b.parent_id, b.failures, b.losses, b.options,
        b.on_failure, b.begun
      from qwf.jobs b where b.id = r.job_id and b.token = r.token) j
  ), ended as (
    update qwf.jobs j set
      status = t.status, output = case when t.status = 'completed' then h.output end,
      failures = t.failures, losses = t.losses,
      run_at = case when t.status = 'scheduled' then p_now + interval '1 s' * t.wait end,
      position = case when t.status <> 'queued' then j.position
        else _qwf.next_position(t.front and not a.task_held) end,
      queued_at = case
        when t.status in ('queued', 'awaiting_input') then p_now else j.queued_at end,
      finished_at = case when t.status in ('completed', 'failed', 'cancelled') then p_now end,
      last_error = case
        when t.status = 'completed' then null
        when t.outcome = 'released' then coalesce(h.error, j.last_error)
        when t.status = 'cancelled' then nullif(concat_ws('; ', coalesce((
            select concat('cancelled by ', _qwf.spell_who(c.login, c.acting_for), ': ' || c.reason)
            from qwf.cancel_requests c where c.job_id = h.id), h.error),
          case when t.begun then 'it may have run' end), '')
        else t.error end,
      input_spec = case when t.status <> 'awaiting_input' then j.input_spec
        else _qwf.failure_question(t.error, true, t.outcome = 'maybe_run') end,
      avoid_host = coalesce(a.host, j.avoid_host),
      avoid_until = case when a.host is null then j.avoid_until else p_now + s.avoid_host end,
      begun = t.begun, token = null, lease_expires_at = null
    from held h
    cross join qwf.settings s
    cross join lateral (select
      case when h.outcome = 'lost'
          or h.detail ->> 'reason' in ('accelerator', 'disk_full', 'older_code')
        then (select w.host from qwf.workers w where w.id = h.claimed_by) end,
      coalesce(h.on_failure, (select q.on_failure from qwf.queues q where q.name = h.queue)),
      exists (
        select from qwf.held_tasks l
        where h.detail ->> 'reason' = 'crashed' and l.queue = h.queue and l.task = h.task
          and l.until is not null)
      offset 0) a (host, on_failure, task_held)
    -- offset 0: else the planner writes all of _transition into each place that reads t
    cross join lateral (select b.* from _qwf.transition(
      h.outcome, h.detail, h.error, h.begun,
      h.outcome <> 'completed' and _qwf.should_stop(h.id, h.run_id, h.run_if, h.parent_id),
      h.failures, h.losses, h.options, a.on_failure, s) b
      offset 0) t
    where j.ctid = h.row
    returning j.id, j.run_id, j.node_id, j.queue, j.task, j.status, j.attempt, h.claimed_by,
      h.queued_at, j.claimed_at, h.token, h.outcome, h.error, h.detail, t.outcome as meaning
  ), attempted as (
    insert into qwf.job_attempts (job_id, attempt, token, worker, queued_at, started_at,
      finished_at, outcome, error, log_tail, detail)
    select e.id, e.attempt, e.token, e.claimed_by, e.queued_at, e.claimed_at, p_now, e.outcome,
      e.error, _qwf.tail(e.detail ->> 'log_tail', s.max_log_bytes),
      _qwf.kept_detail(e.detail, e.meaning = 'maybe_run')
    from ended e cross join qwf.settings s
  ), counted as (
    insert into qwf.attempt_counts (minute, queue, task, outcome, waits, runs)
    select date_bin('1 minute', p_now, 'epoch'), e.queue, e.task, e.outcome,
      array_agg(date_part('epoch', e.claimed_at - e.queued_at)::real),
      array_agg(coalesce(_qwf.as_number(e.detail -> 'body_s', 1e9),
        date_part('epoch', p_now - e.claimed_at))::real)
    from ended e
    where not starts_with(e.queue, 'qwf.')
    group by e.queue, e.task, e.outcome
  )
  select array_agg((e.id, e.run_id, e.node_id, e.queue, e.status, e.attempt, e.claimed_by,
    e.token, e.outcome, e.detail)::_qwf.ended) into v_ended
  from ended e;
  return v_ended;
end $$;

-- Returns what an attempt keeps of the detail of its report: what the engine knows, up to 4095
-- bytes each; a long reason is cut. What may have run has that reason, and its own is the cause.
create function _qwf.kept_detail(p_detail jsonb, p_may_have_run boolean) returns jsonb
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  select coalesce(jsonb_object_agg(d.key, k.value), '{}')
    || case when p_may_have_run then jsonb_build_object('reason', 'maybe_run',
      'cause', to_jsonb(left(p_detail ->> 'reason', 1000))) else '{}' end
  from jsonb_each(p_detail) d
  cross join lateral (select case d.key
    when 'reason' then to_jsonb(left(d.value #>> '{}', 1000)) else d.value end) k (value)
  where d.key in ('reason', 'exit_code', 'signal', 'max_rss_bytes', 'cpu_seconds',
      'gpu_peak_bytes', 'host', 'retry_after_s', 'usage', 'batch', 'body_s')
    and (d.key = 'reason' or _qwf.json_problem(d.value, 4095) is null)
$$;
