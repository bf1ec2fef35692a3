-- The newest jobs that match a filter, looking back a bounded distance.

create type qwf.found_job as (
  id bigint, run_id bigint, node_id text, task text, queue text, project text,
  status qwf.job_status, priority int, run_next boolean, attempt int, released int, worker text,
  host text, progress real, progress_message text, seconds double precision, key text,
  run_at timestamptz, created_at timestamptz, queued_at timestamptz, started_at timestamptz,
  finished_at timestamptz, error text, args jsonb, searched_to bigint);
comment on type qwf.found_job is
  'A job as lists show it. released: how many attempts were. started_at: of the last '
  'attempt, which took, or has taken so far, these seconds. error: the most telling line of the '
  'last error, cut. searched_to: give it as before_id to search on; null: all have been '
  'searched. A row without id says only that.';

create type _qwf.job_filter as (
  statuses qwf.job_status[], queue text, task text, run_id bigint, node text, worker text,
  host text, project text, labels jsonb, key text, error text, signature text, args jsonb,
  text text, since timestamptz, until timestamptz);
comment on type _qwf.job_filter is 'The filter of find_jobs, checked; null: any.';

create type _qwf.found as (ids bigint[], searched_to bigint);
comment on type _qwf.found is
  'Rows that a search found, the newest first, and the oldest id it looked at; null: it looked at '
  'all.';

-- Finds the newest jobs that pass a filter, looking back a bounded distance. Reads at most
-- look_back jobs below before_id, and no further portion of them once it has taken 150 ms,
-- because errors or args are large. searched_to of every row says how far it looked. If it found
-- no job, it returns one row that has only searched_to; no row at all means that no job is left
-- to look at. If the filter names a run, or states that few jobs have, it looks at these jobs
-- alone, however old they are. With until it starts at the jobs of that time, and with since it
-- stops there. The plan is pinned, and made for each filter.
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
  v_found _qwf.found;
begin
  perform _qwf.check_search(find_jobs.look_back, find_jobs.max_rows);
  v_found := _qwf.search_few(
    v_filter, v_below, find_jobs.look_back, find_jobs.max_rows, v_now + v_longest);
  if v_found is null then
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

-- Returns the newest jobs that pass a filter, and how far it looked, if the filter names a run or
-- states of which an index has all jobs, and they are few; else null. Reads at most p_look_back
-- nodes of a run, or 5,000 jobs of the states, because to read a job by its id costs five times as
-- much as to read the next one. Looks at 1,000 jobs at a time, and stops after those at which
-- p_until passes. With the settings of find_jobs.
create function _qwf.search_few(
  p_filter _qwf.job_filter, p_below bigint, p_look_back int, p_rows int, p_until timestamptz)
returns _qwf.found
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_most int := least(p_look_back, case when p_filter.run_id is null then 5000 end);
  v_few bigint[];
  v_last int := 1000;
  v_found _qwf.found := ('{}', null);
begin
  if p_filter.run_id is not null then
    v_few := array(
      select j.id from qwf.jobs j where j.run_id = p_filter.run_id limit v_most + 1);
  elsif p_filter.statuses <@ '{scheduled,queued,running,awaiting_input,failed}' then
    v_few := array(
      select few.id from (
        select j.id from qwf.jobs j
        where 'running' = any (p_filter.statuses) and j.status = 'running'
        union all
        select w.job_id from qwf.waits w
        where 'awaiting_input' = any (p_filter.statuses) and w.kind in ('question', 'signal')
        union all
        select j.id from qwf.jobs j
        where 'failed' = any (p_filter.statuses) and j.status = 'failed'
        union all
        select j.id from qwf.jobs j
        where 'scheduled' = any (p_filter.statuses) and j.status = 'scheduled'
        union all
        select j.id from qwf.jobs j
        where 'queued' = any (p_filter.statuses) and j.status = 'queued' and j.limit_by is null
        union all
        select j.id from qwf.jobs j
        where 'queued' = any (p_filter.statuses) and j.status = 'queued' and j.limit_by is not null
          and j.limit_place is null
        union all
        select j.id from qwf.jobs j
        where 'queued' = any (p_filter.statuses) and j.limit_place is not null
          and j.status in ('queued', 'running') and _qwf.line_of(j) is not null
      ) few
      limit v_most + 1);
  end if;
  if (cardinality(v_few) <= v_most) is not true then
    return null;
  end if;
  v_few := array(select f.id from unnest(v_few) f (id) where f.id < p_below order by f.id desc);
  loop
    v_found.ids := v_found.ids || array(
      select few.id from unnest(v_few[v_last - 999 : v_last]) with ordinality few (id, place)
      where exists (  -- offset: else the planner may walk over all jobs to have them in order
        select from qwf.jobs j where j.id = few.id and _qwf.job_matches(j, p_filter) offset 0)
      limit p_rows - cardinality(v_found.ids));
    if cardinality(v_found.ids) = p_rows then
      v_found.searched_to := v_found.ids[p_rows];
      return v_found;
    end if;
    exit when v_last >= cardinality(v_few);
    if qwf.now() >= p_until then
      v_found.searched_to := v_few[v_last];
      return v_found;
    end if;
    v_last := v_last + 1000;
  end loop;
  return v_found;
end $$;

-- True when a job passes a filter. Reads only the first 10,000 characters of an error, and what
-- is compared is cheap first. One expression without a pinned search_path, so that the planner
-- inlines it and drops the conditions that the filter does not have. Worker ids begin with the
-- host and a colon.
create function _qwf.job_matches(p_job qwf.jobs, p_filter _qwf.job_filter) returns boolean
language sql stable
as $$
  select (p_filter.statuses is null or p_job.status = any (p_filter.statuses))
    and (p_filter.queue is null or p_job.queue = p_filter.queue)
    and (p_filter.task is null or p_job.task = p_filter.task)
    and (p_filter.run_id is null or p_job.run_id = p_filter.run_id)
    and (p_filter.project is null or p_job.project = p_filter.project)
    and (p_filter.key is null or p_job.key = p_filter.key)
    and (p_filter.worker is null or p_job.claimed_by = p_filter.worker)
    and (p_filter.host is null or starts_with(p_job.claimed_by, p_filter.host || ':'))
    and (p_filter.node is null or p_job.node_id = p_filter.node
      or starts_with(p_job.node_id, p_filter.node || '['))
    and (p_filter.since is null or p_job.created_at >= p_filter.since)
    and (p_filter.until is null or p_job.created_at <= p_filter.until)
    and (p_filter.labels is null or p_job.labels @> p_filter.labels)
    and (p_filter.args is null or p_job.inputs @> p_filter.args
      or p_job.resolved_inputs @> p_filter.args)
    and (p_filter.error is null or _qwf.error_contains(p_job.last_error, p_filter.error))
    and (p_filter.signature is null
      or coalesce(_qwf.error_signature(_qwf.error_line(p_job.last_error)), '')
        = p_filter.signature)
    and (p_filter.text is null or strpos(p_job.key, p_filter.text) > 0
      or strpos(coalesce(p_job.resolved_inputs, p_job.inputs)::text, p_filter.text) > 0
      or _qwf.error_contains(p_job.last_error, p_filter.text))
$$;

-- True when a text is in the first 10,000 characters of an error. Does not count the characters
-- of an error that is short anyway, because that takes longer than the search. Without a pinned
-- search_path, so that the planner inlines it.
create function _qwf.error_contains(p_error text, p_text text) returns boolean
language sql immutable parallel safe
as $$
  select strpos(
    case when octet_length(p_error) > 10000 then left(p_error, 10000) else p_error end, p_text) > 0
$$;

-- Returns a line of an error with its numbers, ids and paths made equal, so that errors of one
-- cause have one text. <path> stands for a path or an address, # for a number, a UUID, a digest,
-- or a word in which letters stand between digits. Takes what _error_line returns: it is short,
-- so that no error takes long.
create function _qwf.error_signature(p_line text) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select regexp_replace(regexp_replace(regexp_replace(p_line,
      E'(\\m[A-Za-z]:\\\\|\\m[a-z0-9+]+://|(^|(?<=[^[:alnum:]_./~-]))[.~]{0,2}/)'
        || E'[^\\s\'"(),;<>]*[^\\s\'"(),;<>:.]', '<path>', 'g'),
      E'\\m(0x[0-9a-fA-F]+'
        || '|[[:alnum:]_-]*[0-9][[:alnum:]_-]*[a-zA-Z][[:alnum:]_-]*[0-9][[:alnum:]_-]*)'
        || E'\\M', '#', 'g'),
      '[0-9]+([.,][0-9]+)*', '#', 'g')
$$;

-- Returns the newest jobs that pass a filter, and how far it looked. Reads at most p_look_back
-- jobs, in portions, and stops after the portion in which p_until passes. The first portion is
-- 1,000 jobs; each other one is as large as p_until leaves time for if it is read as fast as the
-- one before, from 1,000 to 5,000 jobs. With the settings of find_jobs.
create function _qwf.search_jobs(
  p_filter _qwf.job_filter, p_below bigint, p_look_back int, p_rows int, p_until timestamptz)
returns _qwf.found
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_left int := p_look_back;
  v_portion int := least(1000, p_look_back);
  v_began timestamptz;
  v_now timestamptz := qwf.now();
  v_more _qwf.found;
  v_found _qwf.found := ('{}', p_below);
begin
  while v_left > 0 loop
    v_began := v_now;
    v_more := _qwf.search_portion(
      p_filter, v_found.searched_to, v_portion, p_rows - cardinality(v_found.ids));
    v_found := (v_found.ids || v_more.ids, v_more.searched_to);
    v_now := qwf.now();
    exit when v_found.searched_to is null or cardinality(v_found.ids) = p_rows or v_now >= p_until;
    v_left := v_left - v_portion;
    v_portion := least(v_left, greatest(1000, least(5000, v_portion
      * extract(epoch from p_until - v_now)
      / greatest(extract(epoch from v_now - v_began), 0.000001))));
  end loop;
  return v_found;
end $$;

-- Walks backward over the ids and returns the newest jobs that pass a filter. Reads at most
-- p_look_back jobs, whatever the statistics say, with the settings of find_jobs. First reads the
-- newest p_look_back ids, which belong to that many jobs at most. Unless these hold enough,
-- finds how far p_look_back jobs reach, and reads the rest.
create function _qwf.search_portion(
  p_filter _qwf.job_filter, p_below bigint, p_look_back int, p_rows int)
returns _qwf.found
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_top bigint := (
    select j.id + 1 from qwf.jobs j where j.id < p_below order by j.id desc limit 1);
  v_found _qwf.found;
begin
  v_found.ids := array(
    select j.id from qwf.jobs j
    where j.id < v_top and j.id >= v_top - p_look_back and _qwf.job_matches(j, p_filter)
    order by j.id desc limit p_rows);
  if cardinality(v_found.ids) = p_rows then
    v_found.searched_to := v_found.ids[p_rows];
    return v_found;
  end if;
  v_found.searched_to := (  -- null: there are not that many
    select j.id from qwf.jobs j
    where j.id < v_top order by j.id desc offset p_look_back - 1 limit 1);
  if v_found.searched_to = v_top - p_look_back then
    return v_found;
  end if;
  v_found.ids := v_found.ids || array(
    select j.id from qwf.jobs j
    where j.id < v_top - p_look_back and j.id >= coalesce(v_found.searched_to, j.id)
      and _qwf.job_matches(j, p_filter)
    order by j.id desc limit p_rows - cardinality(v_found.ids));
  if cardinality(v_found.ids) = p_rows then
    v_found.searched_to := v_found.ids[p_rows];
  end if;
  return v_found;
end $$;
