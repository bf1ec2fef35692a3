-- The state that an outcome gives a job; outcomes changed because of earlier attempts, and crashes
-- counted; files and events of an ended attempt. Callers hold the locks of the jobs; a crash also
-- locks the row of held_tasks, then the workers.

create type _qwf.transition as (
  status qwf.job_status, outcome text, failures int, losses int, wait double precision,
  front boolean, error text, begun boolean);
comment on type _qwf.transition is
  'State a job goes to when an attempt ends, and what the attempt costs of its budgets. outcome: '
  'what it counts as; of one at_most_once that has begun, maybe_run for lost, fatal for error.';

-- Decides the next state of a job whose attempt ended: the state machine of an attempt. Errors
-- and transient failures count against max_attempts, losses against max_losses, a release
-- against neither. A transient failure waits at least detail.retry_after_s, a release exactly
-- that long (at least 1 s), both at most 366 days. A job that runs at most once and whose body
-- may have begun gets no other try, unless the body itself says that nothing happened; a failing
-- card or disk does not. A job that should stop is never queued again. Inlined: failing reports
-- by the hundred cost 1.2 times as much otherwise.
create function _qwf.transition(
  p_outcome text, p_detail jsonb, p_error text, p_begun boolean, p_stopped boolean,
  p_failures int, p_losses int, p_options qwf.job_options,
  p_on_failure text, p_settings qwf.settings)
returns setof _qwf.transition
language sql stable rows 1
as $$
  select
    case
      when n.outcome = 'completed' then 'completed'
      when n.outcome = 'cancelled' or p_stopped then 'cancelled'
      when n.exhausted and p_on_failure = 'ask' then 'awaiting_input'
      when n.exhausted then 'failed'
      when n.wait > 0 then 'scheduled'
      else 'queued'
    end::qwf.job_status,
    n.outcome, n.failures, n.losses, n.wait, n.outcome in ('lost', 'released'),
    case when n.outcome = 'maybe_run' then 'it may have run: '
      when n.exhausted and n.outcome = 'lost'
      then format(case n.losses when 1 then 'lost once' else 'lost %s times' end
        || ', given up: ', n.losses) else '' end
    || coalesce(p_error, case when n.outcome = 'maybe_run' and p_outcome = 'released'
      then 'given back by its worker' || coalesce(' (' || n.reason || ')', '') end,
      n.reason, p_outcome),
    case when p_begun and (n.outcome in ('tempfail', 'released') or n.reason = 'arguments')
      then false else p_begun end
  from (
    select
      c.*,
      case c.outcome
        when 'error'
          then c.failures >= coalesce((p_options).max_attempts, p_settings.error_attempts)
        when 'tempfail'
          then c.failures >= coalesce((p_options).max_attempts, p_settings.transient_attempts)
        when 'lost' then c.losses >= coalesce((p_options).max_losses, p_settings.max_losses)
        else c.outcome in ('fatal', 'maybe_run')
      end as exhausted,
      case c.outcome
        when 'error' then c.spread * _qwf.backoff_seconds(
          coalesce((p_options).backoff, p_settings.error_backoff), c.failures)
        when 'tempfail' then greatest(c.asked, c.spread * _qwf.backoff_seconds(
          coalesce((p_options).backoff, p_settings.transient_backoff), c.failures))
        when 'released' then case when c.asked > 0 then greatest(c.asked, 1) end
      end as wait
    from (
      select o.outcome, o.reason, 0.9 + 0.2 * random() as spread,
        p_failures + (o.outcome in ('error', 'tempfail', 'fatal'))::int as failures,
        p_losses + (o.outcome in ('lost', 'maybe_run'))::int as losses,
        case when _qwf.as_number(p_detail -> 'retry_after_s') > 0
          then least((p_detail -> 'retry_after_s')::numeric, 31622400)::double precision
          end as asked
      from (select case
        when p_begun and case p_outcome
          when 'lost' then true
          when 'released' then coalesce(r.reason not in ('later', 'older_code'), true)
          when 'tempfail' then coalesce(r.reason in ('accelerator', 'disk_full'), false)
          else false end then 'maybe_run'
        when p_begun and p_outcome = 'error' then 'fatal'
        else p_outcome end, r.reason
        from (select left(p_detail ->> 'reason', 1000)) r (reason)
        offset 0) o (outcome, reason)
    ) c
  ) n
$$;

-- Writes what few of the attempts that just ended have: files, and an event for a loss or
-- cancellation. An invalid number from a worker becomes null, a long text is cut, and files
-- after the first 10000 are left out; the report is not lost. A later attempt on the same box
-- replaces the list of that box; the lists of other boxes stay. A WARNING names unknown keys of
-- the detail, and a wait of more than 366 days.
create function _qwf.record_unusual(p_ended _qwf.ended[], p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_known constant text[] := '{reason,exit_code,signal,max_rss_bytes,cpu_seconds,gpu_peak_bytes,
    log_tail,host,files,readings,retry_after_s,usage,batch,body_s}';
  v_job_id bigint;
  v_keys text;
begin
  delete from qwf.run_files f
  using unnest(p_ended) e
  where f.job_id = e.id and jsonb_typeof(e.detail -> 'files') = 'array'
    and e.detail -> 'files' <> '[]' and f.host = left(e.detail ->> 'host', 500);
  insert into qwf.run_files
    (job_id, file_no, rel_path, run_id, node_id, host, kind, size_bytes, attempt, completed)
  select e.id, f.n + coalesce(o.last, 0), left(f.value ->> 'rel_path', 4096), e.run_id, e.node_id,
    left(e.detail ->> 'host', 500),
    coalesce(left(f.value ->> 'kind', 100), 'file'),
    greatest(coalesce(_qwf.as_number(f.value -> 'size_bytes'), 0), 0), e.attempt,
    e.outcome = 'completed'
  from unnest(p_ended) e
  cross join lateral (
    select max(r.file_no) as last from qwf.run_files r where r.job_id = e.id) o
  cross join lateral jsonb_array_elements(
    case when jsonb_typeof(e.detail -> 'files') = 'array' then e.detail -> 'files' else '[]' end)
    with ordinality f (value, n)
  where f.value ->> 'rel_path' is not null and f.n <= 10000;

  insert into _qwf.event_log (at, run_id, job_id, kind, detail)
  select p_now, e.run_id, e.id, t.type,
    jsonb_strip_nulls(jsonb_build_object(
      'attempt', e.attempt, 'worker', e.worker,
      'reason', left(e.detail ->> 'reason', 1000),
      'signal', _qwf.as_number(e.detail -> 'signal', 255)::int, 'now', e.status,
      'readings', case when _qwf.json_problem(e.detail -> 'readings', 4095) is null
        then e.detail -> 'readings' end))
  from unnest(p_ended) e
  cross join lateral (select case
    when e.status = 'cancelled' then 'cancelled'
    when e.detail ->> 'reason' = 'lease_lapsed' then 'reclaimed'
    when jsonb_typeof(e.detail -> 'readings') = 'object' then 'tripped'
    else 'lost' end) t (type)
  where e.outcome = 'lost' or e.status = 'cancelled';

  for v_job_id, v_keys in
    select e.id, left(string_agg(k.key, ', '), 200)
    from unnest(p_ended) e cross join lateral jsonb_object_keys(e.detail - v_known) k (key)
    group by e.id
  loop
    raise warning using message = 'unknown keys in the detail of a report',
      detail = format('job %s: %s', v_job_id, v_keys),
      hint = 'they are not stored; the keys are ' || array_to_string(v_known, ', ');
  end loop;
  for v_job_id in
    select e.id from unnest(p_ended) e
    where e.status = 'scheduled' and _qwf.as_number(e.detail -> 'retry_after_s') > 31622400
  loop
    raise warning using message = 'retry_after_s is more than 366 days',
      detail = format('job %s', v_job_id), hint = 'the job waits 366 days';
  end loop;
end $$;

-- Changes the outcome of reports about which earlier attempts of the job decide. A failure over
-- arguments that the body does not know, but the producer compared, is a release: the worker
-- runs older code. The job waits 15 s, and fails after an hour of such releases; the first
-- writes an event. A release without a reason has the reason later; after 1000 in a row the next
-- is a tempfail. A crash is noted for its task. Reads nothing else unless a report is of this
-- kind.
-- Locks: the caller has locked the jobs.
create function _qwf.weigh_outcomes(p_reports _qwf.report[], p_now timestamptz)
returns _qwf.report[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_report _qwf.report;
  v_job record;
  v_since timestamptz;
  v_all _qwf.report[] := '{}';
begin
  perform _qwf.note_crash(j, p_now)
  from (
    select c.* from unnest(p_reports) r join qwf.jobs c on c.id = r.job_id
    where r.outcome = 'lost' and r.detail ->> 'reason' = 'crashed'
    order by c.queue, c.task) j;
  if not exists (
    select from unnest(p_reports) r
    where r.outcome = 'fatal' and r.detail ->> 'reason' = 'arguments'
      or r.outcome = 'released' and r.detail ? 'retry_after_s') then
    return p_reports;
  end if;
  foreach v_report in array p_reports loop
    select j.run_id, j.attempt, j.claimed_by, j.checked, coalesce(w.host, j.claimed_by) as host
      into v_job
    from qwf.jobs j left join qwf.workers w on w.id = j.claimed_by
    where j.id = v_report.job_id;
    if v_report.outcome = 'released' and _qwf.as_number(v_report.detail -> 'retry_after_s') > 0
      and coalesce(v_report.detail ->> 'reason', 'later') = 'later'
    then
      v_report.detail := v_report.detail || '{"reason": "later"}';
      if v_job.attempt > 1000 and (
        select count(*) = 1000 from qwf.job_attempts a
        where a.job_id = v_report.job_id
          and a.attempt between v_job.attempt - 1000 and v_job.attempt - 1
          and a.outcome = 'released' and a.detail ->> 'reason' = 'later')
      then
        v_report.outcome := 'tempfail';
        v_report.detail := v_report.detail - 'reason';
        v_report.error := concat_ws(E'\n', v_report.error,
          'put off 1000 times in a row, so this one counts as a failure');
      end if;
    elsif v_report.outcome = 'fatal' and v_report.detail ->> 'reason' = 'arguments'
      and v_job.checked
    then
      select min(a.finished_at) into v_since
      from qwf.job_attempts a
      where a.job_id = v_report.job_id and a.detail ->> 'reason' = 'older_code'
        and a.attempt > coalesce((
          select max(b.attempt) from qwf.job_attempts b
          where b.job_id = v_report.job_id and b.outcome <> 'released'), 0);
      if v_since is null or v_since > p_now - interval '1 h' then
        v_report.outcome := 'released';
        v_report.error := format(
          '%s runs older code: %s', v_job.host, split_part(v_report.error, ';', 1));
        v_report.detail := v_report.detail || '{"reason": "older_code", "retry_after_s": 15}';
      end if;
      if v_since is null then
        insert into _qwf.event_log (at, run_id, job_id, kind, detail)
        values (p_now, v_job.run_id, v_report.job_id, 'older_code', jsonb_build_object(
          'worker', v_job.claimed_by, 'attempt', v_job.attempt,
          'error', left(v_report.error, 1000)));
      end if;
    end if;
    v_all := v_all || v_report;
  end loop;
  return v_all;
end $$;

-- Counts that a task has killed its process, and holds it back if it has done so on two boxes,
-- or four times where there is no other box, and has not ended in another way meanwhile. What
-- the task does elsewhere counts: an attempt that ended in another way begins the count again,
-- and so does an hour. Each hold that follows on a crash of the trial is twice as long, up to an
-- hour. An event tells of each.
-- Locks: the row of held_tasks, then the workers that are free; the caller has locked the job.
create function _qwf.note_crash(p_job qwf.jobs, p_now timestamptz) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_hold interval := (select s.crash_hold from qwf.settings s);
  v_host text := coalesce(
    (select w.host from qwf.workers w where w.id = p_job.claimed_by), p_job.claimed_by);
  v_ends bigint := (
    select coalesce(sum(t.count), 0) from qwf.attempt_totals t
    where t.queue = p_job.queue and t.task = p_job.task
      and t.outcome not in ('lost', 'released', 'cancelled')
    ) + (
    select coalesce(sum(cardinality(c.runs)), 0) from qwf.attempt_counts c
    where c.queue = p_job.queue and c.task = p_job.task
      and c.outcome not in ('lost', 'released', 'cancelled'));
  v_task qwf.held_tasks;
  v_is_held boolean;
begin
  insert into qwf.held_tasks as h (queue, task, hosts, crashes, other_ends, crashed_at)
  values (p_job.queue, p_job.task, array[v_host], 1, v_ends, p_now)
  on conflict (queue, task) do update set (hosts, crashes, other_ends, crashed_at) = (
    select case when s.goes_on then array(
        select distinct u.host from unnest(h.hosts || v_host) u (host) order by u.host)
        else array[v_host] end,
      case when s.goes_on then h.crashes + 1 else 1 end, v_ends, p_now
    from (select h.until is not null
      or h.other_ends = v_ends and h.crashed_at > p_now - interval '1 h') s (goes_on))
  returning h.* into v_task;
  v_is_held := v_hold > '0 s' and case
    when v_task.until is not null
      then (p_job.id, p_job.attempt) = (v_task.trial_job, v_task.trial_attempt)
    else cardinality(v_task.hosts) > 1 or v_task.crashes > 3 and not exists (
      select from qwf.workers w cross join qwf.settings s
      where w.queue = v_task.queue and w.host <> v_host and w.stopped_at is null
        and w.last_seen > p_now - s.worker_stale
        and (w.tasks is null or v_task.task = any (w.tasks))) end;
  if v_is_held is not true then
    return;
  end if;
  update qwf.held_tasks h set
    until = p_now + least(v_hold * 2 ^ least(h.holds, 16), greatest(v_hold, '1 h')),
    holds = h.holds + 1, trial_job = null, trial_attempt = null
  where h.queue = v_task.queue and h.task = v_task.task
  returning h.* into v_task;
  perform _qwf.spread_holds();
  insert into _qwf.event_log (at, kind, subject, names, detail)
  values (p_now, 'task_held', v_task.task,
    jsonb_build_object('task', v_task.task, 'queue', v_task.queue),
    jsonb_build_object('queue', v_task.queue, 'hosts', v_task.hosts, 'crashes', v_task.crashes,
      'until', v_task.until));
end $$;
