-- Deploy qwf:functions/search/find_jobs
-- Purpose: Finds the newest jobs that pass a filter, looking back a bounded distance.
-- Guarantees: Reads at most look_back jobs below before_id, and no further portion of them once it
--   has taken 150 ms, because errors or args are large. searched_to of every row says how far it
--   looked. If it found no job, it returns one row that has only searched_to; no row at all means
--   that no job is left to look at. If the filter names a run, or states that few jobs have, it
--   looks at these jobs alone, however old they are. With until it starts at the jobs of that
--   time, and with since it stops there. The plan is pinned, and made for each filter.

begin;

create function qwf.find_jobs(
  filter jsonb default '{}', before_id bigint default null, look_back int default 100000,
  max_rows int default 50)
returns setof qwf.found_job
language plpgsql stable security definer
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set enable_bitmapscan = off
set enable_sort = off
set enable_hashjoin = off
set enable_mergejoin = off
set max_parallel_workers_per_gather = 0
set jit = off
set plan_cache_mode = force_custom_plan
as $$
#variable_conflict use_column
declare
  v_longest constant interval := '150 ms';
  v_filter _qwf.job_filter := _qwf.read_job_filter(find_jobs.filter);
  v_now timestamptz := qwf.now();
  v_below bigint := coalesce(find_jobs.before_id, 9223372036854775807);
  v_low bigint;  -- the first that is too new for the filter is between these ids
  v_high bigint;
  v_middle bigint;
  v_few bigint[];
  v_found _qwf.found;
begin
  perform _qwf.check_search(find_jobs.look_back, find_jobs.max_rows);
  v_few := _qwf.few_jobs(v_filter, find_jobs.look_back);
  if v_few is not null then
    v_found := _qwf.search_few(
      v_filter, v_few, v_below, find_jobs.max_rows, v_now + v_longest);
  else
    if v_filter.until is not null then
      -- ids grow with time, but for those that calls give out at the same moment: a minute later
      select min(j.id), max(j.id) + 1 into v_low, v_high from qwf.jobs j;
      while v_high - v_low > 1000 loop
        v_middle := v_low + (v_high - v_low) / 2;
        if (select j.created_at from qwf.jobs j where j.id >= v_middle order by j.id limit 1)
            > v_filter.until + interval '1 minute' then
          v_high := v_middle;
        else
          v_low := v_middle;
        end if;
      end loop;
      v_below := least(v_below, v_high);
    end if;
    v_found := _qwf.search_jobs(
      v_filter, v_below, find_jobs.look_back, find_jobs.max_rows, v_now + v_longest);
    if (select j.created_at from qwf.jobs j where j.id = v_found.searched_to)
        < v_filter.since - interval '1 minute' then
      v_found.searched_to := null;
    end if;
  end if;
  return query
  select
    j.id, j.run_id, j.node_id, j.task, j.queue, j.project, j.status, j.priority, j.run_next,
    j.attempt,
    case j.attempt when 0 then 0 when j.attempt then (
      select count(*)::int from qwf.job_attempts a
      where a.job_id = j.id and a.outcome = 'released') end,
    j.claimed_by, w.host,
    case when j.status = 'completed' then 1 else p.fraction end, p.message,
    round(extract(epoch from coalesce(j.finished_at, case when j.status = 'running' then v_now end)
      - j.claimed_at), 3)::double precision,
    j.key, j.run_at, j.created_at, j.queued_at, j.claimed_at, j.finished_at,
    _qwf.error_line(j.last_error),
    case when pg_column_size(coalesce(j.resolved_inputs, j.inputs)) <= 4000
      then coalesce(j.resolved_inputs, j.inputs) end,
    v_found.searched_to
  from unnest(coalesce(nullif(v_found.ids, '{}'), array[null::bigint]))
    with ordinality f (id, place)
  left join qwf.jobs j on j.id = f.id
  left join qwf.job_progress p on p.job_id = j.id and p.attempt = j.attempt
  left join qwf.workers w on w.id = j.claimed_by
  where f.id is not null or v_found.searched_to is not null
  order by f.place;
end $$;
comment on function qwf.find_jobs is
  'Finds jobs, the newest first, among the newest look_back below before_id; it stops earlier if '
  'that takes more than 150 ms. filter: status (one or a list), queue, task, run_id, node, worker, '
  'host, project, key, labels and args (contained in those of the job), error (part of it), '
  'signature (as failure_groups returns it), text (part of its key, args or error), since and '
  'until (of created_at). args is null if it takes more than 4,000 bytes. searched_to is the '
  'before_id to search on from; null: all have been searched. If no job was found, one row without '
  'id says it. QW005 for an invalid filter or bound.';
call _qwf.allow('qwf.find_jobs', 'qwf_viewer');

commit;
