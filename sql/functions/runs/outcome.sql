-- The outcome of a run that has ended, as its step reports it and as its event says it.

-- Returns what a run that is over reports to its step: completed, error, fatal or cancelled,
-- with its output or error. The output is what the workflow declares (p_outputs); without
-- outputs, the outputs of its last nodes in one object, where anything but an object stands
-- under the id of its node. A run that failed is fatal if a body in it that runs at most once
-- may have run. An output that has more than p_most bytes, or cannot be resolved, is fatal:
-- another try would give the same.
create function _qwf.run_outcome(
  p_run qwf.runs, p_outputs jsonb, p_most int, out outcome text, out output jsonb, out error text)
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_found _qwf.resolution;
begin
  outcome := case p_run.status
    when 'completed' then 'completed' when 'cancelled' then 'cancelled' else 'error' end;
  if outcome <> 'completed' then
    error := format('run %s %s', p_run.id, case p_run.status
      when 'cancelled' then 'was cancelled' else 'failed' end) || coalesce(': ' || p_run.error, '');
    if outcome = 'error' and exists (
      with recursive below as (
        select p_run.id
        union all
        select r.id from below b
        join qwf.jobs j on j.run_id = b.id and j.queue = 'qwf.runs'
          and j.status in ('failed', 'cancelled')
        join qwf.runs r on r.parent_id = j.id
      )
      select from below b join qwf.jobs j on j.run_id = b.id
      where j.begun and j.status in ('failed', 'cancelled'))
    then
      outcome := 'fatal';
    end if;
    return;
  elsif p_outputs is not null then
    select f.* into v_found
    from (
      select coalesce(array_agg(n.idx) filter (where not r.is_files), '{}') as nodes,
        coalesce(array_agg(r.id) filter (where r.is_files), '{}') as files
      from _qwf.nodes_read(p_outputs) r
      left join qwf.graph_nodes n on n.graph_id = p_run.graph_id and n.node_id = r.id) d
    cross join lateral _qwf.scope(p_run.id, d.nodes, d.files, false) s
    cross join lateral _qwf.resolve(p_outputs, s.scope) f;
  else
    select coalesce(jsonb_object_agg(e.key, e.value order by j.node_idx), '{}') into v_found.value
    from qwf.jobs j
    cross join lateral jsonb_each(case jsonb_typeof(j.output)
      when 'object' then j.output else jsonb_build_object(j.node_id, j.output) end) e
    where j.run_id = p_run.id and j.node_idx is not null and j.status = 'completed'
      and not exists (
        select from qwf.graph_edges g
        join qwf.graph_nodes n on n.graph_id = g.graph_id and n.idx = g.to_idx
        where g.graph_id = p_run.graph_id and g.from_idx = j.node_idx and n.compensates is null);
  end if;
  output := v_found.value;
  error := coalesce(
    'outputs of run ' || p_run.id || ': ' || _qwf.resolution_error(v_found.error),
    case when octet_length(output::text) > p_most then format(
      'QW005: the output of run %s has %s bytes, at most %s fit', p_run.id,
      octet_length(output::text), p_most) end);
  if error is not null then
    outcome := 'fatal';
    output := null;
  end if;
end $$;

-- Returns the kind of the event of a run that ends: run_ended, or retried for a run in line that
-- failed and has tries left. As _run_outcome and _transition will decide for the job of the run
-- in the same transaction.
create function _qwf.end_kind(p_status qwf.run_status, p_parent_id bigint) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return case when p_status = 'failed' and exists (
    select from qwf.jobs j
    cross join qwf.settings s
    join qwf.runs r on r.parent_id = j.id
    where j.id = p_parent_id and j.run_id is null and j.finished_at is null
      and j.failures + 1 < coalesce((j.options).max_attempts, s.error_attempts)
      and (_qwf.run_outcome(r, null, 0)).outcome = 'error') then 'retried' else 'run_ended' end;
end $$;

-- Writes the events of runs that have just ended by themselves, and returns those of them that
-- are reported to a job: a step of the run above, or their place in line. A statement of its
-- own, so that what opens the next node of a run does not start it.
create function _qwf.tell_run_ends(p_runs bigint[]) returns bigint[]
language plpgsql
set search_path = pg_catalog, pg_temp
as $$
declare
  v_reported bigint[];
begin
  with ended as (
    select r.id, r.workflow, r.status, r.started_at, r.finished_at, r.error, r.parent_id
    from qwf.runs r where r.id = any (p_runs)
  ), told as (
    insert into _qwf.event_log (at, run_id, kind, subject, detail)
    select e.finished_at, e.id, _qwf.end_kind(e.status, e.parent_id), e.workflow,
      _qwf.run_ended(e.status, e.started_at, e.finished_at, e.error, e.parent_id)
        || _qwf.not_taken_back(e.id, e.status)
    from ended e
  )
  select array_agg(e.id) filter (where e.parent_id is not null) into v_reported from ended e;
  return v_reported;
end $$;

-- Returns what the event run_ended says about a run: how this try of it ended, how long it took
-- from its start, which node failed, the first line of the error, and the run above it.
create function _qwf.run_ended(
  p_status qwf.run_status, p_started_at timestamptz, p_finished_at timestamptz, p_error text,
  p_parent_id bigint default null)
returns jsonb
language sql stable
as $$
  select jsonb_strip_nulls(jsonb_build_object(
    'status', p_status,
    'seconds', round(extract(epoch from p_finished_at - p_started_at), 3),
    'node', case when p_status = 'failed' then substring(p_error from '^([^ ]+) failed: ') end,
    'error', left(split_part(p_error, E'\n', 1), 500),
    'parent', case when p_parent_id is not null then (
      select j.run_id from qwf.jobs j where j.id = p_parent_id) end))
$$;

-- Returns, for the event of a run that ended badly, which nodes it did that a compensation node
-- should have taken back and has not, at most 20; an empty object if there are none.
create function _qwf.not_taken_back(p_run bigint, p_status qwf.run_status) returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
set enable_seqscan = off
set jit = off
as $$
declare
  v_nodes text[];
begin
  if p_status not in ('failed', 'cancelled') or not exists (
    select from qwf.runs r join qwf.graphs g on g.id = r.graph_id
    where r.id = p_run and g.compensation_count > 0)
  then
    return '{}';
  end if;
  v_nodes := array(
    select c.takes_back from qwf.compensations c
    where c.run_id = p_run and c.done
    group by c.takes_back having not bool_or(c.taken_back)
    order by c.takes_back limit 20);
  return case when v_nodes = '{}' then '{}'
    else jsonb_build_object('not_taken_back', to_jsonb(v_nodes)) end;
end $$;
