-- Deploy qwf:functions/finish/_record_unusual
-- Purpose: Writes what few of the attempts that just ended have: files, and an event for a loss or
--   cancellation.
-- Guarantees: An invalid number from a worker becomes null, a long text is cut, and files after the
--   first 10000 are left out; the report is not lost. A later attempt on the same box replaces the
--   list of that box; the lists of other boxes stay. A WARNING names unknown keys of the detail,
--   and a wait of more than 366 days.
-- Called by: _end_attempts.

begin;

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

commit;
