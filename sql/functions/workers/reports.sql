-- Events, load and refused reports that agents send.

-- Records an event of a job that only its worker can see. Writes nothing for a token that is not
-- of this job; does not change the job. The attempt may have ended already, as a short body ends
-- before its worker has said this; another worker may have the job by then. attempt and worker
-- are always those of the token.
create function qwf.report_event(job_id bigint, token uuid, kind text, detail jsonb)
returns boolean
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  if coalesce(report_event.kind not in ('stall_suspected', 'folder_moved'), true) then
    raise exception using errcode = 'QW005', message = 'invalid kind',
      detail = format('kind %L', left(report_event.kind, 200)),
      hint = 'a worker reports stall_suspected and folder_moved';
  end if;
  perform _qwf.check_json('detail', report_event.detail, 16384);
  if jsonb_typeof(report_event.detail) is distinct from 'object' then
    raise exception using errcode = 'QW005', message = 'invalid detail',
      detail = coalesce(_qwf.excerpt(report_event.detail), 'null'),
      hint = 'pass a JSON object, such as {"moved_to": "/out/jobs/15.before-20261124"}';
  end if;
  insert into _qwf.event_log (at, run_id, job_id, kind, detail)
  select qwf.now(), j.run_id, j.id, report_event.kind,
    report_event.detail || jsonb_build_object('attempt', t.attempt, 'worker', t.worker)
  from qwf.jobs j
  cross join lateral (
    select j.attempt, j.claimed_by as worker where j.token = report_event.token
    union all
    select a.attempt, a.worker from qwf.job_attempts a
    where a.job_id = j.id and a.token = report_event.token
    limit 1) t
  where j.id = report_event.job_id;
  return found;
end $$;
comment on function qwf.report_event is
  'Records an event of a job that its worker saw: stall_suspected, with the readings of a watchdog '
  'about a body that is silent and computes, or folder_moved: the folder of the job held files of '
  'another one, which were moved aside. The event gets attempt and worker, of the attempt with '
  'this token. False for a token that is not of this job. QW005 for another kind, and for a '
  'detail that is not an object, or too large.';
call _qwf.allow('qwf.report_event', 'qwf_worker');

-- Takes a load sample of a host, keeps it for some minutes, and passes it on. A value that is
-- not a number becomes null.
-- Notifies: hw_metrics, but not at every call: see _send_metrics.
create function qwf.report_metrics(host text, sample jsonb) returns void
language plpgsql security definer
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
declare
  v_now timestamptz := qwf.now();
begin
  perform _qwf.check_json('sample', report_metrics.sample);
  if coalesce(report_metrics.host, '') = '' or octet_length(report_metrics.host) > 500
    or jsonb_typeof(report_metrics.sample) is distinct from 'object' then
    raise exception using errcode = 'QW005', message = 'invalid sample',
      detail = format('host %L, sample %s',
        left(report_metrics.host, 500), _qwf.excerpt(report_metrics.sample)),
      hint = 'pass the name of the host, and a JSON object as sample';
  end if;
  perform _qwf.check_keys('sample.', report_metrics.sample, '{cpu_percent,cpu_ours_percent,
    ram_percent,ram_used_mb,ram_total_mb,ram_ours_used_mb,swap_used_mb,gpus}');
  insert into qwf.host_metrics (
    host, sampled_at, cpu_percent, cpu_ours_percent, ram_percent, ram_used_mb, ram_total_mb,
    ram_ours_used_mb, swap_used_mb, gpus)
  select
    report_metrics.host, v_now, _qwf.as_number(s -> 'cpu_percent'),
    _qwf.as_number(s -> 'cpu_ours_percent'), _qwf.as_number(s -> 'ram_percent'),
    _qwf.as_number(s -> 'ram_used_mb', 2147483647)::int,
    _qwf.as_number(s -> 'ram_total_mb', 2147483647)::int,
    _qwf.as_number(s -> 'ram_ours_used_mb', 2147483647)::int,
    _qwf.as_number(s -> 'swap_used_mb', 2147483647)::int,
    case when jsonb_typeof(s -> 'gpus') = 'array' then s -> 'gpus' else '[]' end
  from (select report_metrics.sample as s) given
  on conflict (host, sampled_at) do nothing;
  perform _qwf.send_metrics();
end $$;
comment on function qwf.report_metrics is
  'Keeps a sample of a host for some minutes and sends it on channel hw_metrics, in a large fleet '
  'together with those of other hosts. sample: cpu_percent, cpu_ours_percent, ram_percent, '
  'ram_used_mb, ram_total_mb, ram_ours_used_mb, swap_used_mb, gpus: [{id, use_pct, vram_used_mb, '
  'vram_total_mb}]. QW005 for an invalid sample.';
call _qwf.allow('qwf.report_metrics', 'qwf_worker');

-- Sends the unsent samples of all hosts, and deletes old samples. A commit with NOTIFYs wakes
-- every listening session of this database, so every agent, however many NOTIFYs it has. So
-- samples are sent together, and the more workers there are, the longer the interval: 20 ms for
-- each worker, at most 2 s. Deletes samples older than settings.metrics_keep.
-- Locks: rows of host_metrics that nobody has locked.
-- Notifies: hw_metrics, with each sample as JSON.
create function _qwf.send_metrics() returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_sent_at timestamptz := (select to_timestamp(m.last_value / 1000.0) from qwf.metrics_sent m);
  v_now timestamptz := qwf.now();  -- read after v_sent_at, so that it is the later one
  v_workers int := (select count(*) from qwf.workers w where w.stopped_at is null);
  v_sample qwf.host_metrics;
  v_share numeric;
  v_text text;
begin
  if v_now - v_sent_at between '0 s' and least('2 s', v_workers * interval '20 ms') then
    return;
  end if;
  perform setval('qwf.metrics_sent', floor(extract(epoch from v_now) * 1000)::bigint);
  for v_sample in
    update qwf.host_metrics m set sent = true
    from (
      select u.host, u.sampled_at from qwf.host_metrics u
      where not u.sent
      for update skip locked
    ) unsent
    where m.host = unsent.host and m.sampled_at = unsent.sampled_at
    returning m.*
  loop
    v_share := round(100.0 * v_sample.ram_ours_used_mb / nullif(v_sample.ram_total_mb, 0), 1);
    v_text := to_jsonb(v_sample) - 'sent' || jsonb_build_object(
      'ram_ours_percent', case when v_share > 100 then 100 else v_share end);  -- null stays null
    if octet_length(v_text) < 8000 then  -- the limit of NOTIFY
      perform pg_notify('hw_metrics', v_text);
    end if;
  end loop;
  delete from qwf.host_metrics m
  using (
    select f.host, f.sampled_at from qwf.host_metrics f cross join qwf.settings s
    where f.sampled_at < v_now - s.metrics_keep
    for update of f skip locked
  ) old
  where m.host = old.host and m.sampled_at = old.sampled_at;
end $$;

-- Returns the boxes that have ended bodies whose reports the database refuses, how many, and
-- why; of p_job only the box that has it, and the reason of its task. Reads what live workers
-- have said with their last heartbeat, and never fails because of what they said. A heartbeat
-- names the first 200 jobs.
create function _qwf.unreported(p_job qwf.jobs default null)
returns table (host text, reports bigint, why text)
language sql stable
as $$
  select w.host, sum(_qwf.as_number(t.value -> 'reports', 1e6))::bigint, string_agg(
    case when p_job.id is null then concat(t.value ->> 'reports', ' of ', t.value ->> 'task', ': ')
      else '' end || left(t.value ->> 'error', 700), '; ' order by t.value ->> 'task')
  from qwf.workers w
  cross join qwf.settings s
  cross join jsonb_path_query(w.stats, '$.unreported.tasks[*]') t (value)
  where w.stopped_at is null and w.last_seen > qwf.now() - s.worker_stale
    and (p_job.id is null or w.id = p_job.claimed_by and t.value ->> 'task' = p_job.task
      and w.stats @? format('$.unreported.jobs[*] ? (@ == %s)', p_job.id)::jsonpath)
  group by w.host
$$;
