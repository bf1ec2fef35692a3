-- The newest runs that match a filter, looking back a bounded distance.

create type qwf.found_run as (
  id bigint, workflow text, version int, status qwf.run_status, project text, done int, total int,
  failed int, running int, asked int, seconds double precision, key text, created_at timestamptz,
  started_at timestamptz, finished_at timestamptz, deadline_in interval, error text,
  searched_to bigint);
comment on type qwf.found_run is
  'A run as lists show it. done: nodes completed or skipped, of total. failed: failed nodes. '
  'running: running bodies, those of map elements included. asked: nodes that wait for a person. '
  'seconds: from start to end, or to now. deadline_in: time left until it fails. error: first '
  'line, cut. searched_to: give it as before_id to search on; null: all have been searched. A row '
  'without id says only that.';

create type _qwf.run_filter as (
  statuses qwf.run_status[], workflow text, project text, labels jsonb, key text, error text,
  text text, since timestamptz, until timestamptz, parent bigint, children boolean);
comment on type _qwf.run_filter is 'The filter of find_runs, checked; null: any.';

-- Finds the newest runs that pass a filter, looking back a bounded distance. As find_jobs. If
-- the filter names only states of runs that have not ended, and 5,000 runs or fewer have not, it
-- looks at all of these, however old.
create function qwf.find_runs(
  filter jsonb default '{}', before_id bigint default null, look_back int default 100000,
  max_rows int default 50)
returns setof qwf.found_run
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
  v_filter _qwf.run_filter := _qwf.read_filter(null::_qwf.run_filter, find_runs.filter,
    '{status,workflow,project,labels,key,error,text,since,until,parent,children}',
    enum_range(null::qwf.run_status)::text[]);
  v_now timestamptz := qwf.now();
  v_below bigint := coalesce(find_runs.before_id, 9223372036854775807);
  v_low bigint;  -- the first that is too new for the filter is between these ids
  v_high bigint;
  v_middle bigint;
  v_few bigint[];
  v_found _qwf.found;
begin
  perform _qwf.check_search(find_runs.look_back, find_runs.max_rows);
  if v_filter.parent is not null then
    v_few := array(
      select r.id from qwf.jobs j join qwf.runs r on r.parent_id = j.id
      where j.run_id = v_filter.parent
      limit least(find_runs.look_back, 5000) + 1);
  elsif v_filter.statuses <@ '{queued,running,awaiting_input}' then
    v_few := array(
      select r.id from qwf.runs r where r.status in ('queued', 'running', 'awaiting_input')
      limit least(find_runs.look_back, 5000) + 1);
  end if;
  if cardinality(v_few) <= least(find_runs.look_back, 5000) then
    v_found.ids := array(
      select few.id
      from (select f.id from unnest(v_few) f (id) where f.id < v_below order by f.id desc) few
      where exists (  -- offset: else the planner may walk over all runs to have them in order
        select from qwf.runs r where r.id = few.id and _qwf.run_matches(r, v_filter) offset 0)
      limit find_runs.max_rows);
    v_found.searched_to := v_found.ids[find_runs.max_rows];
  else
    if v_filter.until is not null then
      -- ids grow with time, but for those that calls give out at the same moment: a minute later
      select min(r.id), max(r.id) + 1 into v_low, v_high from qwf.runs r;
      while v_high - v_low > 1000 loop
        v_middle := v_low + (v_high - v_low) / 2;
        if (select r.created_at from qwf.runs r where r.id >= v_middle order by r.id limit 1)
            > v_filter.until + interval '1 minute' then
          v_high := v_middle;
        else
          v_low := v_middle;
        end if;
      end loop;
      v_below := least(v_below, v_high);
    end if;
    v_found := _qwf.search_runs(v_filter, v_below, find_runs.look_back, find_runs.max_rows);
    if (select r.created_at from qwf.runs r where r.id = v_found.searched_to)
        < v_filter.since - interval '1 minute' then
      v_found.searched_to := null;
    end if;
  end if;
  return query
  select s.* from _qwf.show_runs(v_found, v_now) s;
end $$;
comment on function qwf.find_runs is
  'Finds runs, the newest first, among the newest look_back below before_id. filter: status (one '
  'or a list), workflow, project, key, labels (contained in those of the run), error (part of it), '
  'text (part of its key, context or error), since and until (of created_at), parent (the runs of '
  'its steps), children (true: runs of steps, too, which are left out otherwise). searched_to is '
  'the before_id to search on from; null: all have been searched. If no run was found, one row '
  'without id says it. QW005 for an invalid filter or bound.';
call _qwf.allow('qwf.find_runs', 'qwf_viewer');

-- True when a run passes a filter. As _job_matches.
create function _qwf.run_matches(p_run qwf.runs, p_filter _qwf.run_filter) returns boolean
language sql stable
as $$
  select (p_run.depth = 0 or p_filter.children or p_filter.parent is not null)
    and (p_filter.parent is null or p_run.depth > 0 and exists (
      select from qwf.jobs j where j.id = p_run.parent_id and j.run_id = p_filter.parent))
    and (p_filter.statuses is null or p_run.status = any (p_filter.statuses))
    and (p_filter.workflow is null or p_run.workflow = p_filter.workflow)
    and (p_filter.project is null or p_run.project = p_filter.project)
    and (p_filter.key is null or p_run.key = p_filter.key)
    and (p_filter.since is null or p_run.created_at >= p_filter.since)
    and (p_filter.until is null or p_run.created_at <= p_filter.until)
    and (p_filter.labels is null or p_run.labels @> p_filter.labels)
    and (p_filter.error is null or _qwf.error_contains(p_run.error, p_filter.error))
    and (p_filter.text is null or strpos(p_run.key, p_filter.text) > 0
      or strpos(p_run.context::text, p_filter.text) > 0
      or _qwf.error_contains(p_run.error, p_filter.text))
$$;

-- Walks backward over the ids and returns the newest runs that pass a filter. Reads at most
-- p_look_back runs, whatever the statistics say, with the settings of find_runs. First reads the
-- newest p_look_back ids, which belong to that many runs at most. Unless these hold enough,
-- finds how far p_look_back runs reach, and reads the rest.
create function _qwf.search_runs(
  p_filter _qwf.run_filter, p_below bigint, p_look_back int, p_rows int)
returns _qwf.found
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_top bigint := (
    select r.id + 1 from qwf.runs r where r.id < p_below order by r.id desc limit 1);
  v_found _qwf.found;
begin
  v_found.ids := array(
    select r.id from qwf.runs r
    where r.id < v_top and r.id >= v_top - p_look_back and _qwf.run_matches(r, p_filter)
    order by r.id desc limit p_rows);
  if cardinality(v_found.ids) = p_rows then
    v_found.searched_to := v_found.ids[p_rows];
    return v_found;
  end if;
  v_found.searched_to := (  -- null: there are not that many
    select r.id from qwf.runs r
    where r.id < v_top order by r.id desc offset p_look_back - 1 limit 1);
  if v_found.searched_to = v_top - p_look_back then
    return v_found;
  end if;
  v_found.ids := v_found.ids || array(
    select r.id from qwf.runs r
    where r.id < v_top - p_look_back and r.id >= coalesce(v_found.searched_to, r.id)
      and _qwf.run_matches(r, p_filter)
    order by r.id desc limit p_rows - cardinality(v_found.ids));
  if cardinality(v_found.ids) = p_rows then
    v_found.searched_to := v_found.ids[p_rows];
  end if;
  return v_found;
end $$;

-- Returns the runs that were found as lists show them, in the order they were found. Reads the
-- nodes of these runs, not the elements of their maps, and the running jobs. With the settings
-- of find_runs.
create function _qwf.show_runs(p_found _qwf.found, p_now timestamptz) returns setof qwf.found_run
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with running (run_id, bodies) as materialized (
    select j.run_id, count(*) from qwf.jobs j where j.status = 'running' group by j.run_id
  )
  select
    r.id, r.workflow, r.workflow_version, r.status, r.project, n.done, r.node_count, n.failed,
    case when r.id is not null then coalesce(b.bodies, 0)::int end, r.waiting_nodes,
    round(extract(epoch from coalesce(r.finished_at, p_now) - r.started_at), 3)::double precision,
    r.key, r.created_at, r.started_at, r.finished_at,
    case when r.finished_at is null and isfinite(r.deadline_at)
      then date_trunc('second', r.deadline_at - p_now) end,
    left(case when r.finished_at is null then 'ends ' || r.ending || ': ' else '' end
      || split_part(left(r.error, 1000), E'\n', 1), 200), p_found.searched_to
  from unnest(coalesce(nullif(p_found.ids, '{}'), array[null::bigint]))
    with ordinality f (id, place)
  left join qwf.runs r on r.id = f.id
  left join running b on b.run_id = r.id
  left join lateral (
    select count(*) filter (where j.status in ('completed', 'skipped'))::int as done,
      count(*) filter (where j.status = 'failed')::int as failed
    from qwf.jobs j where j.run_id = r.id and j.node_idx is not null
  ) n on r.id is not null
  where f.id is not null or p_found.searched_to is not null
  order by f.place
$$;
