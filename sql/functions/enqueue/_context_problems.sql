-- Deploy qwf:functions/enqueue/_context_problems
-- Purpose: Returns what is wrong with the context of a run, as far as the context alone can show
--   it.
-- Guarantees: A context that does not fit the inputs of the workflow is a problem. A path that some
--   reference needs and the context does not have is a problem, and so is a step input that does
--   not fit its schema. What is read only if a skip_if is not true is not checked if the skip_if is
--   true, or depends on more than the context. Suggests names for the first five problems only,
--   because each suggestion reads all nodes. Stops after 20 problems, and says so. Never raises.
-- Called by: enqueue_run, _check_mending, _resume_child, _serve_run, _start_children,
--   _work_problems.

begin;

create function _qwf.context_problems(p_graph bigint, p_context jsonb) returns setof _qwf.problem
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_scope constant jsonb := jsonb_build_object('$context', p_context);
  v_check jsonb;
  v_skip _qwf.resolution;
  v_path text[];
  v_error text;
  v_found int := 0;
begin
  return query
    select p.*
    from qwf.graphs g cross join lateral _qwf.schema_problems(p_context, g.inputs, 'context') p
    where g.id = p_graph and g.inputs is not null
    limit 20;
  for v_check in
    select c from qwf.graphs g cross join lateral jsonb_array_elements(g.context_checks) c
    where g.id = p_graph and not c ? 'later'
  loop
    v_error := null;
    if v_check ? 'value' then
      v_error := (_qwf.resolve(v_check -> 'value', v_scope)).error;
      v_path := string_to_array(
        substring(v_error from '^unresolvable reference [$]context[.](.*)'), '.');
    else
      v_path := array(select jsonb_array_elements_text(v_check -> 'needs'));
      if p_context #> v_path is null then
        v_skip := _qwf.resolve(v_check -> 'unless', v_scope);
        v_error := case when v_skip.error is null and not _qwf.is_true(v_skip.value)
          then 'unresolvable' end;
      end if;
    end if;
    if v_error is not null then
      v_found := v_found + 1;
      if v_found > 20 then
        return next ('context', 'has more problems: only the first 20 are listed', null
          )::_qwf.problem;
        exit;
      end if;
      return next row(v_check ->> 'path',
        coalesce('the context has no ' || array_to_string(v_path, '.'),
          regexp_replace(v_error, '^(invalid|unresolvable|malformed): ', '')),
        case when starts_with(v_error, 'unresolvable') then coalesce(
          case when v_found <= 5 then _qwf.context_hint(p_graph, p_context, v_path) end,
          'give it in the context of the run') end)::_qwf.problem;
    end if;
  end loop;
end $$;

commit;
