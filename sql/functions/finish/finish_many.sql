-- Deploy qwf:functions/finish/finish_many
-- Purpose: Takes a worker's reports about attempts that ended.
-- Guarantees: The fence: only a report with the job's current token changes anything; of two
--   reports about one attempt the first counts. The new state of the job, the attempt row and the
--   event are written in one transaction. A report with a stale token is answered lost; the same
--   report again is answered ok, except about a job that left no row in an earlier call. An error
--   while fanning out never undoes the end of the job: the event waits in the outbox. Completion
--   wins over a pending cancel request, which tick() deletes.
--   Ordinary reports cost one statement, if their jobs all leave a row or all leave none. It writes
--   nothing if one report is not ordinary: then all go through _end_attempts. Each job is found by
--   id and token alone, whatever the statistics say: the token is null unless the job is running.
-- Locks: the reported jobs (by id), then the runs that are free (by id), then jobs of those runs.
-- Notifies: sleepers of queues that got work; workers whose bodies have to stop.

begin;

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
          last_error = null, last_exit_code = _qwf.as_number(r.detail -> 'exit_code', 65535)::int,
          token = null, lease_expires_at = null
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

commit;
