-- Deploy qwf:functions/children/_run_outcome
-- Purpose: Returns what a run that is over reports to its step: completed, error, fatal or
--   cancelled, with its output or error.
-- Guarantees: The output is what the workflow declares (p_outputs); without outputs, the outputs of
--   its last nodes in one object, where anything but an object stands under the id of its node. A
--   run that failed is fatal if a body in it that runs at most once may have run. An output that
--   has more than p_most bytes, or cannot be resolved, is fatal: another try would give the same.
-- Called by: _end_kind, _report_runs.

begin;

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

commit;
