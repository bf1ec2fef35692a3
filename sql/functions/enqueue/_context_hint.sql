-- Deploy qwf:functions/enqueue/_context_hint
-- Purpose: Suggests what was probably meant by a path that the context of a run does not have.
-- Guarantees: The first segment may be a mistyped key of the context, step or node; a later one a
--   mistyped key of the object that the path reaches. Null if nothing is similar.
-- Called by: _context_problems.

begin;

create function _qwf.context_hint(p_graph bigint, p_context jsonb, p_path text[]) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  for v_length in 1 .. cardinality(p_path) loop
    if p_context #> p_path[:v_length] is null then
      return _qwf.did_you_mean(p_path[v_length], array(
        select jsonb_object_keys(_qwf.as_object(p_context #> p_path[:v_length - 1]))
        union
        select unnest(array[n.step_id, split_part(n.node_id, '/', 2)])
        from qwf.graph_nodes n
        where n.graph_id = p_graph and v_length = 1));
    end if;
  end loop;
  return null;
end $$;

commit;
