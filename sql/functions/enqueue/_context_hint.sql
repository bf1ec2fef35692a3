-- Deploy qwf:functions/enqueue/_context_hint
-- Purpose: Suggests what was probably meant by a path that the context of a run does not have.
-- Guarantees: The first segment may be a mistyped step or node, or somebody gave a mistyped key in
--   the context; for a later one the same with the object that the path reaches. Null if nothing is
--   similar.
-- Called by: _context_problems.

begin;

create function _qwf.context_hint(p_graph bigint, p_context jsonb, p_path text[]) returns text
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_given text[];
  v_hint text;
  v_near text;
begin
  for v_length in 1 .. cardinality(p_path) loop
    if p_context #> p_path[:v_length] is null then
      v_given := array(
        select jsonb_object_keys(_qwf.as_object(p_context #> p_path[:v_length - 1])));
      v_hint := _qwf.did_you_mean(p_path[v_length], array(
        select unnest(v_given)
        union
        select unnest(array[n.step_id, split_part(n.node_id, '/', 2)])
        from qwf.graph_nodes n
        where n.graph_id = p_graph and v_length = 1));
      v_near := substring(v_hint from '^did you mean (.*)[?]$');
      return case when v_near = any (v_given)
        then format('you gave %s: did you mean %s?', v_near, p_path[v_length]) else v_hint end;
    end if;
  end loop;
  return null;
end $$;

commit;
