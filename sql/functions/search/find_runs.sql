-- Deploy qwf:functions/search/find_runs
-- Purpose: Finds the newest runs that pass a filter, looking back a bounded distance.
-- Guarantees: As find_jobs. If the filter names only states of runs that have not ended, and 5,000
--   runs or fewer have not, it looks at all of these, however old.

begin;

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

commit;
