-- Deploy qwf:functions/mending/_check_mending
-- Purpose: Refuses to retry a run with a graph, a context or a node that it cannot have.
-- Guarantees: A NOTICE names new values of the context that nothing reads. A context that is the
--   one that the run has, for the graph that it has, was checked when the run was enqueued.
-- Raises: QW001, QW002 for compensation nodes, QW005.
-- Called by: retry_plan, retry_run.

begin;

create function _qwf.check_mending(
  p_run qwf.runs, p_graph bigint, p_changes jsonb, p_from_node text, p_completed text)
returns void
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_context jsonb := p_run.context || coalesce(p_changes, '{}');
  v_read text[];
  v_unread text[];
begin
  perform _qwf.check_limits(p_graph, _qwf.limits_above(p_run.id)),
    _qwf.check_from_node(p_run, p_graph, p_from_node), _qwf.refuse_compensation(p_run, p_from_node,
      p_graph <> p_run.graph_id or coalesce(p_changes <> '{}', false), p_completed);
  if jsonb_typeof(p_changes) <> 'object' then
    raise exception using errcode = 'QW005', message = 'invalid context',
      detail = format('context: a JSON object, not %s', jsonb_typeof(p_changes)),
      hint = 'give only the keys that change, for example {"day": "2026-11-26"}';
  end if;
  if p_graph = p_run.graph_id and v_context = p_run.context then
    return;
  end if;
  perform _qwf.check_json('context', v_context, s.max_value_bytes) from qwf.settings s;
  perform _qwf.raise_problems('QW005', 'the context does not fit the workflow',
    array(select p from _qwf.context_problems(p_graph, v_context) p));
  v_read := array(
    select distinct p.path ->> 1
    from qwf.graphs g
    left join qwf.graph_nodes n on n.graph_id = g.id
    cross join lateral jsonb_path_query(
      jsonb_build_array(g.context_checks, to_jsonb(n)), 'strict $.**."$from"') p (path)
    where g.id = p_graph and p.path ->> 0 = '$context' and p_changes <> '{}');
  v_unread := array(
    select k from jsonb_object_keys(p_changes) k where k <> all (v_read) order by k);
  if v_unread <> '{}' then
    raise notice using
      message = format('no node of run %s reads %s of its context', p_run.id,
        left(array_to_string(v_unread, ', '), 200)),
      hint = coalesce(_qwf.did_you_mean(v_unread[1], v_read),
        'it reads ' || left(nullif(array_to_string(v_read, ', '), ''), 500), 'it reads none');
  end if;
end $$;

commit;
