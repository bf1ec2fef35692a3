-- Limits that a job may name, and those that a change must keep from being dropped. Locks: the
-- limits, for key share.

-- Refuses to start nodes whose limit was dropped after they were compiled, and nodes that need a
-- limit of which their run holds a place (p_held): it would wait for itself.
-- Raises: QW001; QW005 for a limit inside itself.
create function _qwf.check_limits(p_graph bigint, p_held text[]) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_inside text := case when p_held <> '{}' then _qwf.limit_inside(p_graph, p_held) end;
begin
  if v_inside is not null then
    raise exception using errcode = 'QW005', message = 'a limit inside itself',
      detail = format('%s needs limit %s, of which the run would hold a place until it ends',
        v_inside, array_to_string(p_held, ', ')),
      hint = 'give the run another limit_by, or none, or register the workflow without that one';
  end if;
  perform _qwf.check_limit(format('node %s, ', n.node_id), n.limit_by)
  from qwf.graph_nodes n
  where n.graph_id = p_graph and n.limit_by is not null;
end $$;

-- Refuses an unknown limit, under which jobs would wait forever; suggests a known one.
-- Raises: QW001; QW005 for a limit that counts by key, without a key.
create function _qwf.check_limit(p_where text, p_name text) returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if exists (select from qwf.limits l where l.name = rtrim(p_name, ':') and l.keyed) then
    raise exception using errcode = 'QW005',
      message = format('limit "%s" counts by key', rtrim(p_name, ':')),
      detail = format('%slimit_by %L', p_where, p_name),
      hint = format('write limit_by => ''%s:KEY''', rtrim(p_name, ':'));
  end if;
  if p_name is not null and not _qwf.names_key(p_name) and (starts_with(p_name, 'queue:')
      or not exists (select from qwf.limits l where l.name = p_name)) then
    raise exception using errcode = 'QW001', message = 'no such limit',
      detail = format('%slimit_by %L; limits: %s', p_where, left(p_name, 200), coalesce((
        select string_agg(l.name, ', ' order by l.name) from (
          select l.name from qwf.limits l where not starts_with(l.name, 'queue:')
          order by l.name limit 20) l), 'none')),
      hint = coalesce(_qwf.did_you_mean(p_name, array(
          select l.name from qwf.limits l where not starts_with(l.name, 'queue:'))) || ' If not, ',
        'correct the name, or ')
        || format('ask an administrator to create the limit: select qwf.create_limit(%s)', case
          when starts_with(p_name, 'queue:') or strpos(p_name, ':') not between 2 and 200
              or exists (select from qwf.limits l where l.name = split_part(p_name, ':', 1))
            then format('%L, 2', left(p_name, 200))
          else format('%L, 2, keyed => true', split_part(p_name, ':', 1)) end);
  end if;
end $$;

-- Returns what would be refused without a limit: the nodes of current pipelines and the steps of
-- current workflows that name it, and the schedules whose options do; null: nothing.
create function _qwf.limit_users(p_limit text, p_keyed boolean) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return string_agg(distinct u.what, '; ' order by u.what)
  from (
    select format('pipeline %s, node %s', p.name, n.value ->> 'id') as what,
      n.value ->> 'limit_by' as limit_by
    from qwf.pipelines p, jsonb_array_elements(p.definition -> 'nodes') n
    where p.current
    union all
    select format('workflow %s, step %s', w.name, s.value ->> 'id'), s.value ->> 'limit_by'
    from qwf.workflows w, jsonb_array_elements(w.definition -> 'steps') s
    where w.current
    union all
    select format('schedule %s', c.name), c.options ->> 'limit_by'
    from qwf.schedules c where c.enabled) u
  where u.limit_by = p_limit or p_keyed and split_part(u.limit_by, ':', 1) = p_limit;
end $$;

-- Keeps limits from being dropped until this transaction ends. drop_limit waits for it, and then
-- finds the jobs that name the limit; a limit that is being dropped is waited for, and then is
-- gone. Waits for no claim, and for no create_limit.
-- Locks: the limits FOR KEY SHARE, as a foreign key would; of a key (customer:acme) its limit.
create function _qwf.lock_limits(variadic p_names text[]) returns void
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
begin
  perform from qwf.limits l
  where l.name = any (array(
    select n from unnest(p_names) n union select split_part(n, ':', 1) from unnest(p_names) n))
  order by l.name
  for key share;
end $$;

-- Returns the limits of which a place is held while a run goes on: its own, and those of the
-- steps and runs above it.
create function _qwf.limits_above(p_run_id bigint) returns text[]
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  with recursive above (run_id, limit_by) as (
    select p_run_id, null::text
    union all
    select j.run_id, j.limit_by
    from above a join qwf.runs r on r.id = a.run_id join qwf.jobs j on j.id = r.parent_id
  )
  select coalesce(array_agg(a.limit_by) filter (where a.limit_by is not null), '{}') from above a
$$;
