-- Keys of limits, and the lines in which their jobs wait.

-- Returns the queue in whose line a job waits; null: it does not wait. The first column of the
-- index jobs_keyed, in one expression without a pinned search_path, so that the planner inlines
-- it and uses the index.
create function _qwf.line_of(p_job qwf.jobs) returns text
language sql immutable
as $$
  select case when p_job.status = 'queued' then p_job.queue end
$$;

-- Returns the band of a line in which a job waits: its priority, and far below that with
-- run_next; null: it does not wait. The second column of the index jobs_keyed, as _line_of is
-- the first.
create function _qwf.band_of(p_job qwf.jobs) returns bigint
language sql immutable
as $$
  select case when p_job.status = 'queued'
    then p_job.priority - case when p_job.run_next then 4294967296 else 0 end end
$$;

-- Returns the next band of the line of a queue in which jobs wait; no row: there is none. Costs
-- one probe of jobs_keyed. One query without a pinned search_path, so that the planner puts it
-- into the statement that reads it.
create function _qwf.next_band(p_queue text, p_after bigint) returns table (band bigint)
language sql stable
as $$
  select _qwf.band_of(j) from qwf.jobs j
  where _qwf.line_of(j) = p_queue and _qwf.band_of(j) > coalesce(p_after, -9223372036854775808)
    and j.limit_place is not null and j.status in ('queued', 'running')
  order by _qwf.line_of(j), _qwf.band_of(j) limit 1
$$;

-- Returns the place of a key in the lines of its limit: a hash of its name; null: the limit does
-- not count by key. A limit whose whole name is given goes first, so that limits with a colon in
-- their name stay what they are. The hash spreads names that begin alike, so that a claim may
-- begin anywhere in a line and be fair; its last 14 bits are the number of the key in
-- hash_locks.
create function _qwf.limit_place(p_limit_by text) returns bigint
language sql stable strict
set search_path = pg_catalog, pg_temp
as $$
  select hashtextextended(p_limit_by, 0)
  where strpos(p_limit_by, ':') > 0
    and not exists (select from qwf.limits l where l.name = p_limit_by)
$$;

-- True when a name is a key of a limit that counts by key: LIMIT:KEY.
create function _qwf.names_key(p_name text) returns boolean
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select strpos(p_name, ':') between 2 and length(p_name) - 1 and octet_length(p_name) <= 500
    and exists (select from qwf.limits l where l.name = split_part(p_name, ':', 1) and l.keyed)
$$;
