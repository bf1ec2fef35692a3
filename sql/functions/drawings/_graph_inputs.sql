-- Deploy qwf:functions/drawings/_graph_inputs
-- Purpose: Returns what the context of a run gives to a compiled graph: each path that is read,
--   whether a run needs it, its schema and its fallback.
-- Guarantees: Each path once, sorted. Required: without it enqueue_run refuses the run; a path that
--   is read only if a skip_if is not true, or that has a fallback, is not. The schema is that of a
--   pipeline input that is given this path and nothing else.
-- Called by: workflow_graph.

begin;

create function _qwf.graph_inputs(p_graph jsonb) returns jsonb
language sql immutable
set search_path = pg_catalog, pg_temp
as $$
  with reading (path, required, schema, fallback) as (
    select c -> 'needs', c -> 'unless' = 'null', null::jsonb, null::jsonb
    from jsonb_array_elements(p_graph -> 'checks') c
    where c ? 'needs'
    union all
    select jsonb_path_query_array(e.expression -> '$from', '$[1 to last]'),
      not e.optional and not e.expression ? '$default',
      case when e.expression = c #> '{value,$check}' then c #> '{value,schema}' end,
      e.expression -> '$default'
    from jsonb_array_elements(p_graph -> 'checks') c
    cross join lateral _qwf.expressions(c -> 'value', '') e
    where e.expression -> '$from' ->> 0 = '$context'
    union all
    select jsonb_path_query_array(e.expression -> '$from', '$[1 to last]'), false, null,
      e.expression -> '$default'
    from jsonb_array_elements(p_graph -> 'nodes') n
    cross join lateral _qwf.expressions(jsonb_build_array(
      n -> 'inputs', n -> 'skip_if', n -> 'map', n -> 'input_spec', n -> 'repeat',
      n -> 'delay'), '') e
    where n::text ~ '"[$]context"' and e.expression -> '$from' ->> 0 = '$context'
  ), input as (
    select r.path, bool_or(r.required) as required,
      (array_agg(r.schema order by r.schema) filter (where r.schema is not null))[1] as schema,
      (array_agg(r.fallback order by r.fallback) filter (where r.fallback is not null))[1]
        as fallback
    from reading r
    where r.path <> '[]'
    group by r.path
  )
  select coalesce(jsonb_agg(jsonb_build_object('path', i.path, 'required', i.required)
    || case when i.schema is null then '{}' else jsonb_build_object('schema', i.schema) end
    || case when i.fallback is null then '{}' else jsonb_build_object('default', i.fallback) end
    order by i.path), '[]')
  from input i
$$;

commit;
