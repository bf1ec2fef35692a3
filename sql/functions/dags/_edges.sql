-- Deploy qwf:functions/dags/_edges
-- Purpose: Returns the edges that depends_on makes between nodes or steps, as positions from 1.
-- Guarantees: A compensation node depends on what it compensates. Returns each edge once. An entry
--   step/node makes an edge from its step, but not a whole one. An entry that names nothing makes
--   no edge. If an id is used twice, the first one counts.
-- Called by: _compile, _item_problems, _pipeline_reference_problems, _pipeline_shape.

begin;

create function _qwf.edges(p_list jsonb) returns table (tail int, head int, whole boolean)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
    select named.place, dependant.place, bool_or(entry.id not like '%/%')
    from _qwf.items(p_list) dependant
    cross join lateral
      jsonb_array_elements_text(_qwf.as_list(
        coalesce(dependant.item -> 'depends_on', dependant.item -> 'compensates'))) entry (id)
    join (
      select i.id, min(i.place) as place
      from _qwf.items(p_list) i
      group by i.id) named on named.id = split_part(entry.id, '/', 1)
    group by named.place, dependant.place;
end $$;

commit;
