-- Errors that many functions raise, and the texts in them: cut to a length, or naming the value
-- that was meant.

create type _qwf.problem as (path text, problem text, hint text);
comment on type _qwf.problem is
  'One problem of a definition or a value: where (a JSON path), what, and what to do.';

-- Raises one error that reports all problems. DETAIL has one line per problem, "path: problem",
-- so that a program can put each problem at its place; a line break inside one becomes a space.
-- HINT has each distinct hint once. The log of the server repeats both: DETAIL has 60,000 bytes
-- at most, HINT 4,000.
-- Raises: the given SQLSTATE, unless there is no problem.
create function _qwf.raise_problems(p_sqlstate text, p_message text, p_problems _qwf.problem[])
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if cardinality(p_problems) > 0 then
    raise exception using
      errcode = p_sqlstate,
      message = p_message,
      detail = (
        select _qwf.clip(string_agg(
          translate(format('%s: %s', p.path, p.problem), e'\n\r', '  '), e'\n' order by p.position),
          60000)
        from unnest(p_problems) with ordinality as p (path, problem, hint, position)),
      hint = coalesce(
        (select _qwf.clip(string_agg(h.hint, e'\n' order by h.position), 4000)
         from (select p.hint, min(p.position) as position
               from unnest(p_problems) with ordinality as p (path, problem, hint, position)
               where p.hint is not null
               group by p.hint) h),
        'correct what the detail lists and try again; nothing was written');
  end if;
end $$;

-- Cuts a long text in the middle: its head and tail say most. At most about p_max_bytes bytes in
-- the database encoding; returns shorter text unchanged.
create function _qwf.clip(p_text text, p_max_bytes int) returns text
language sql immutable strict
as $$
  select case
    when octet_length(p_text) <= p_max_bytes then p_text
    else left(p_text, k.chars) || E'\n... cut ...\n' || right(p_text, k.chars)
  end
  from (select (length(p_text) * (p_max_bytes - 32.0) / (2 * octet_length(p_text)))::int as chars) k
$$;

-- Raises QW001 with a hint where jobs are listed.
-- Raises: QW001, always.
create function _qwf.raise_no_such_job(p_job_id bigint) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using errcode = 'QW001', message = 'no such job',
    detail = format('job %s', p_job_id),
    hint = 'ended jobs are deleted after their retention, and completed ones at once on a queue '
      'with keep_completed false; who has the role '
      'qwf_viewer lists jobs: select * from qwf.recent_jobs';
end $$;

-- Raises QW001 with a hint where runs are listed.
-- Raises: QW001, always.
create function _qwf.raise_no_such_run(p_run_id bigint) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  raise exception using errcode = 'QW001', message = 'no such run',
    detail = format('run %s', p_run_id),
    hint = 'ended runs are deleted after their retention; '
      'who has the role qwf_viewer lists runs: select * from qwf.run_overview';
end $$;

-- Raises QW006 with the queues that exist and the one that was probably meant.
-- Raises: QW006, always.
create function _qwf.raise_unknown_queue(p_queue text, p_where text default '') returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  if starts_with(p_queue, 'qwf.') then
    perform _qwf.refuse_engine_name(p_where || 'queue', p_queue);
  end if;
  raise exception using errcode = 'QW006', message = 'unknown queue',
    detail = format('%squeue %L; queues: %s', p_where, left(p_queue, 200),
      (select string_agg(q.name, ', ' order by q.name) from qwf.queues q
        where not starts_with(q.name, 'qwf.'))),
    hint = coalesce(
      _qwf.did_you_mean(p_queue, array(select q.name from qwf.queues q)) || ' If not, ',
      'correct the name, or ')
      || 'ask an administrator to create the queue: select qwf.create_queue(''name'')';
end $$;

-- Suggests the known name that a mistyped name probably means. Null unless half of the letter
-- pairs match one of the names, or the letters are the same in another order. Reads only the
-- first 100 letters, and cuts a name of a megabyte once.
create function _qwf.did_you_mean(p_name text, p_names text[]) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select format('did you mean %s?', candidate.name)
  from (select left(p_name, 1000) as name offset 0) given
  cross join unnest(p_names) candidate (name)
  cross join lateral (
    select count(*) filter (
        where position(substr('^' || left(given.name, 100) || '$', at, 2)
          in '^' || candidate.name || '$') > 0)
      * 2.0 / (length(given.name) + length(candidate.name) + 2) as share
    from generate_series(1, least(length(given.name), 100) + 1) at) pair
  cross join lateral (
    select length(given.name) = length(candidate.name)
      and array(select unnest(string_to_array(left(given.name, 100), null)) order by 1)
        = array(select unnest(string_to_array(candidate.name, null)) order by 1)
      as same_letters) swapped
  where pair.share >= 0.5 or swapped.same_letters
  order by swapped.same_letters desc, pair.share desc, candidate.name
  limit 1
$$;

-- True for an error that no data causes and that a later try may not meet: a deadlock, a
-- serialization failure, a lock that is not available, a full disk, no memory. Anyone who can
-- connect can use up the memory for locks.
create function _qwf.is_passing_error(p_sqlstate text) returns boolean
language sql immutable parallel safe
return left(p_sqlstate, 2) = '40' or p_sqlstate in ('53100', '53200', '55P03');

-- Returns the end of a long text: the last lines of a log say most. At most about p_max_bytes
-- bytes in the database encoding; returns shorter text unchanged.
create function _qwf.tail(p_text text, p_max_bytes int) returns text
language sql immutable strict
as $$
  select case
    when octet_length(p_text) <= p_max_bytes then p_text
    else right(p_text, (length(p_text) * p_max_bytes::numeric / octet_length(p_text))::int)
  end
$$;

-- Returns the beginning of a JSON value as text, for the detail of an error. Does not build the
-- text of a value over 10,000 bytes: numbers such as 1e131071 can make it ten thousand times as
-- long.
create function _qwf.excerpt(p_value jsonb, p_length int default 200) returns text
language sql immutable parallel safe
set search_path = pg_catalog, pg_temp
as $$
  select case
    when pg_column_size(p_value #> '{}') > 10000 then 'a value of more than 10,000 bytes'
    else left(p_value::text, p_length) end
$$;
