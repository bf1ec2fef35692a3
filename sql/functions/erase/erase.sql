-- Personal data of jobs found and erased, for a request under data protection law. Locks: runs,
-- by id; jobs that have ended, by id; their events, by id.

create type qwf.erased_job as (job_id bigint, run_id bigint, host text, path text);
comment on type qwf.erased_job is
  'An erased job, with a file that it has left: a row for each file. host: the box that has it. A '
  'job without files has one row, without host and path.';

-- Overwrites what jobs have of a person, and says which files are left on boxes. All or nothing.
-- Ids, times, outcomes and counts stay. A node is erased with all jobs of its run, because its
-- inputs come from them. Who has acted stays, unless the part acting_for is named. It looks at
-- the state before it locks, so that it waits for no worker, and again after it has locked: an
-- erased job has ended, and nobody retries it.
-- Locks: runs, by id; jobs that have ended, by id; their events, by id.
-- Raises: QW002 if a job has not ended, QW005.
create function qwf.erase(
  filter jsonb, parts text[] default null, max_rows int default 1000,
  dry_run boolean default false)
returns setof qwf.erased_job
language plpgsql security definer
set search_path = pg_catalog, pg_temp
set jit = off
as $$
#variable_conflict use_column
declare
  v_parts text[] := _qwf.read_parts(erase.parts);
  v_now timestamptz := qwf.now();
  v_mark jsonb := jsonb_build_object(
    '$erased', to_char(v_now at time zone 'UTC', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'));
  v_jobs bigint[];
  v_runs bigint[];
  v_keys text[];
begin
  if coalesce(erase.max_rows < 1, true) then
    raise exception using errcode = 'QW005', message = 'no row to erase',
      detail = format('max_rows %s', coalesce(erase.max_rows::text, 'null')),
      hint = 'give 1 or more';
  end if;
  v_jobs := _qwf.find_erasable(erase.filter, v_parts, erase.max_rows);
  perform _qwf.check_ended(v_jobs);
  if not coalesce(erase.dry_run, true) then
    v_runs := _qwf.runs_of_jobs(v_jobs);
    perform _qwf.lock_runs(v_runs);
    v_jobs := array(  -- with those that a retry has added meanwhile
      select j.id from qwf.jobs j where j.id = any (v_jobs)
      union
      select j.id from qwf.jobs j where j.run_id = any (v_runs));
    perform j.id from qwf.jobs j
    where j.id = any (v_jobs) and j.finished_at is not null
    order by j.id
    for no key update;
    perform _qwf.check_ended(v_jobs);
  end if;
  return query
  select j.id, j.run_id, f.host, coalesce(f.path, coalesce(rtrim(f.out_dir, '/') || '/', '')
    || coalesce(f.run_id::text, 'jobs/' || f.job_id) || '/' || f.rel_path)
  from unnest(v_jobs) u (id)
  join qwf.jobs j on j.id = u.id
  left join qwf.file_overview f on f.job_id = j.id and 'output' = any (v_parts)
  order by j.id, f.file_no;
  if coalesce(erase.dry_run, true) or cardinality(v_jobs) = 0 then
    return;
  end if;
  v_keys := array(
    select distinct j.limit_by from qwf.jobs j
    where j.id = any (v_jobs) and j.limit_place is not null and 'key' = any (v_parts)
    union
    select e.detail -> 'old' ->> 'limit_by' from _qwf.event_log e  -- keys that they had before
    where e.job_id = any (v_jobs) and e.kind = 'changed' and e.detail -> 'old' ? 'limit_by'
      and 'key' = any (v_parts));
  perform _qwf.erase_history(v_jobs, v_parts, v_mark);
  perform _qwf.erase_signals(v_jobs, v_parts);
  perform _qwf.erase_jobs(v_jobs, v_parts, v_mark);
  perform _qwf.erase_limit_keys(v_keys);
  perform _qwf.erase_events(v_jobs, v_parts, v_mark);
  perform _qwf.erase_alerts(v_jobs, v_parts, v_mark);
  insert into _qwf.event_log (at, kind, detail)
  select v_now, 'erased', jsonb_build_object(
    'jobs', count(*), 'runs', count(distinct j.run_id), 'parts', v_parts)
  from qwf.jobs j where j.id = any (v_jobs);
end $$;
comment on function qwf.erase is
  'Overwrites what ended jobs have of a person with {"$erased": time}, at most max_rows of them '
  'and whole runs: select * from qwf.erase(''{"label": {"person": "42"}}''). filter: as of '
  'find_jobs, and ids, a list. parts, null for all but the last: args, output, context, errors, '
  'logs, events, answers, questions, labels, key, acting_for. Returns the jobs, with the files '
  'that they left on boxes; no row: nothing is left to erase. dry_run returns the same and '
  'changes nothing. QW002 jobs that have not ended, QW005.';
call _qwf.allow('qwf.erase', 'qwf_admin');

-- Returns the parts to erase, each once, in the order of their names. Null is all parts but
-- acting_for, which says who acted.
-- Raises: QW005 for an unknown part, and for none.
create function _qwf.read_parts(p_parts text[]) returns text[]
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_known text[] := array(select distinct p.part from _qwf.personal_places() p order by p.part);
  v_unknown text;
begin
  if p_parts is null then
    return array_remove(v_known, 'acting_for');
  elsif cardinality(p_parts) = 0 then
    raise exception using errcode = 'QW005', message = 'no part to erase',
      detail = 'parts is an empty list', hint = 'leave parts out to erase all of them';
  end if;
  select coalesce(u, 'null') into v_unknown
  from unnest(p_parts) u
  where coalesce(u <> all (v_known), true)
  limit 1;
  if found then
    raise exception using errcode = 'QW005', message = 'unknown part',
      detail = 'parts: ' || left(v_unknown, 200),
      hint = coalesce(_qwf.did_you_mean(v_unknown, v_known),
        'the parts are ' || array_to_string(v_known, ', '));
  end if;
  return array(select distinct u from unnest(p_parts) u order by u);
end $$;

-- Lists the places of personal data: each column that erase overwrites, and its part. Every
-- other column of text or JSON is one of a list with reasons in a test, which fails if a new
-- column is in neither list. Another test writes to each place, and erases it.
create function _qwf.personal_places() returns table (place text, part text)
language sql immutable
as $$
  values
    ('qwf.jobs.inputs', 'args'),
    ('qwf.jobs.resolved_inputs', 'args'),
    ('qwf.jobs.output', 'output'),
    ('qwf.jobs.last_error', 'errors'),
    ('qwf.jobs.input_spec', 'questions'),
    ('qwf.jobs.labels', 'labels'),
    ('qwf.jobs.key', 'key'),
    ('qwf.jobs.limit_by', 'key'),
    ('qwf.jobs.acting_for', 'acting_for'),
    ('qwf.failure_marks.signature', 'errors'), ('qwf.failure_marks.note', 'errors'),
    ('qwf.runs.context', 'context'),
    ('qwf.runs.out_dir', 'output'),
    ('qwf.runs.error', 'errors'),
    ('qwf.runs.labels', 'labels'),
    ('qwf.runs.key', 'key'),
    ('qwf.runs.acting_for', 'acting_for'),
    ('qwf.job_attempts.error', 'errors'),
    ('qwf.job_attempts.detail', 'errors'),
    ('qwf.job_attempts.log_tail', 'logs'),
    ('qwf.job_progress.message', 'logs'),
    ('qwf.live_logs.tail', 'logs'), ('qwf.live_logs.stream', 'logs'),
    ('qwf.run_files.rel_path', 'output'),
    ('qwf.checkpoints.value', 'output'),
    ('qwf.attempt_series.series', 'output'),
    ('qwf.input_answers.value', 'answers'),
    ('qwf.input_answers.acting_for', 'acting_for'),
    ('qwf.signals.name', 'answers'),
    ('qwf.signals.payload', 'answers'),
    ('qwf.signals.acting_for', 'acting_for'),
    ('qwf.outbox.error', 'errors'),
    ('qwf.cancel_requests.reason', 'events'),
    ('qwf.cancel_requests.acting_for', 'acting_for'),
    ('qwf.limit_keys.name', 'key'),
    ('qwf.limit_holds.name', 'key'),
    ('qwf.open_alerts.subject', 'events'),
    ('qwf.open_alerts.key', 'events'),
    ('qwf.alert_messages.subject', 'events'),
    ('_qwf.event_log.detail', 'events'),
    ('_qwf.event_log.acting_for', 'acting_for')
$$;

-- Returns the jobs that erase erases: the first that pass its filter, by id, and for each node
-- all jobs of its run and of the runs inside that, and the job for which the run waited in line.
-- Reads all jobs, however old, unless the filter has ids. Of a node, labels and key are also
-- those of its run. A job whose parts are all erased is not found again, so that a caller comes
-- to the end.
-- Raises: QW005 for an invalid filter, and for an empty one.
create function _qwf.find_erasable(p_filter jsonb, p_parts text[], p_max int) returns bigint[]
language plpgsql stable
set search_path = pg_catalog, pg_temp
set jit = off
set plan_cache_mode = force_custom_plan
as $$
declare
  v_filter _qwf.job_filter;
  v_ids bigint[];
  v_labels jsonb;
  v_key text;
  v_found bigint[];
  v_runs bigint[];
begin
  if jsonb_typeof(p_filter) is distinct from 'object' then
    raise exception using errcode = 'QW005', message = 'invalid filter',
      detail = coalesce(_qwf.excerpt(p_filter), 'null'),
      hint = 'pass a JSON object such as {"label": {"person": "42"}}';
  elsif p_filter ?& '{label,labels}' then
    raise exception using errcode = 'QW005', message = 'invalid filter',
      detail = 'label and labels are the same', hint = 'give one of them';
  elsif jsonb_typeof(p_filter -> 'ids') not in ('array', 'null')
    or p_filter -> 'ids' = '[]' or exists (
      select from jsonb_array_elements(nullif(p_filter -> 'ids', 'null')) i
      where jsonb_typeof(i) <> 'number' or i::numeric not between 1 and 9223372036854775807
        or i::numeric % 1 <> 0) then
    raise exception using errcode = 'QW005', message = 'invalid filter',
      detail = 'filter.ids: ' || _qwf.excerpt(p_filter -> 'ids'),
      hint = 'ids is a list of ids of jobs, such as [7, 8]';
  end if;
  if p_filter -> 'ids' <> 'null' then
    v_ids := array(select i::bigint from jsonb_array_elements(p_filter -> 'ids') i);
  end if;
  if not exists (select from jsonb_each(p_filter) f where f.value not in ('null', '{}')) then
    raise exception using errcode = 'QW005', message = 'the filter is empty',
      detail = 'it would erase every job', hint = 'give label, key or ids, or what else they share';
  end if;
  v_filter := _qwf.read_job_filter(p_filter - 'label' - 'ids' || case when p_filter ? 'label'
    then jsonb_build_object('labels', p_filter -> 'label') else '{}' end);
  v_labels := v_filter.labels;
  v_key := v_filter.key;
  v_filter.labels := null;
  v_filter.key := null;
  select array_agg(f.id), array_agg(distinct f.run_id) filter (where f.run_id is not null)
  into v_found, v_runs
  from (
    select j.id, j.run_id
    from qwf.jobs j left join qwf.runs r on r.id = j.run_id
    where (v_ids is null or j.id = any (v_ids))
      and _qwf.job_matches(j, v_filter)
      and (v_labels is null or j.labels @> v_labels or r.labels @> v_labels)
      and (v_key is null or j.key = v_key or r.key = v_key)
      and not coalesce(j.erased_parts @> p_parts, false)
    order by j.id
    limit p_max) f;
  return array(
    with recursive inside (run_id) as (
      select r.id from qwf.runs r where r.id = any (v_runs) or r.parent_id = any (v_found)
      union
      select c.id
      from inside i join qwf.jobs j on j.run_id = i.run_id join qwf.runs c on c.parent_id = j.id
    )
    select j.id from qwf.jobs j where j.id = any (v_found)
    union
    select j.id from inside i join qwf.jobs j on j.run_id = i.run_id
    union
    select j.id
    from inside i join qwf.runs r on r.id = i.run_id join qwf.jobs j on j.id = r.parent_id);
end $$;

-- Refuses to erase jobs, or nodes of runs, that have not ended. Takes no lock, so that it never
-- waits for a worker that reports.
-- Raises: QW002.
create function _qwf.check_ended(p_jobs bigint[]) returns void
language plpgsql volatile
set search_path = pg_catalog, pg_temp
set jit = off
as $$
declare
  v_jobs bigint[];
  v_runs bigint[];
begin
  v_jobs := array(
    select j.id from qwf.jobs j
    where j.id = any (p_jobs) and j.finished_at is null
    order by j.id);
  v_runs := array(
    select r.id from qwf.runs r
    where r.id = any (_qwf.runs_of_jobs(p_jobs)) and r.finished_at is null
    order by r.id);
  if cardinality(v_jobs) > 0 then
    raise exception using errcode = 'QW002',
      message = case cardinality(v_jobs) when 1 then '1 job has not ended'
        else cardinality(v_jobs) || ' jobs have not ended' end,
      detail = 'jobs ' || array_to_string(v_jobs[:20], ', ')
        || case when cardinality(v_jobs) > 20 then ' and others' else '' end,
      hint = 'cancel them first';
  elsif cardinality(v_runs) > 0 then
    raise exception using errcode = 'QW002',
      message = case cardinality(v_runs) when 1 then '1 run has not ended'
        else cardinality(v_runs) || ' runs have not ended' end,
      detail = 'runs ' || array_to_string(v_runs[:20], ', '),
      hint = 'cancel them first, or wait for their end';
  end if;
end $$;

-- Returns the runs of jobs: those whose nodes they are, and those that ran for them. Such a run
-- may have no nodes: it was cancelled in line, or its workflow is empty.
create function _qwf.runs_of_jobs(p_jobs bigint[]) returns bigint[]
language sql stable
set enable_seqscan = off
as $$
  select array(
    select j.run_id from qwf.jobs j where j.id = any (p_jobs) and j.run_id is not null
    union
    select r.id from qwf.runs r where r.parent_id = any (p_jobs))
$$;
