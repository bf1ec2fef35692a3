-- Deploy qwf:functions/erase/erase
-- Purpose: Overwrites what jobs have of a person, and says which files are left on boxes.
-- Guarantees: All or nothing. Ids, times, outcomes and counts stay. A node is erased with all jobs
--   of its run, because its inputs come from them. Who has acted stays, unless the part acting_for
--   is named. It looks at the state before it locks, so that it waits for no worker, and again
--   after it has locked: an erased job has ended, and nobody retries it.
-- Locks: runs, by id; jobs that have ended, by id; their events, by id.
-- Raises: QW002 if a job has not ended, QW005.
-- Called by: administrators, qwf erase.

begin;

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

commit;
