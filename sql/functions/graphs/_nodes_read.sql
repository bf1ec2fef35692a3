-- Deploy qwf:functions/graphs/_nodes_read
-- Purpose: Returns the nodes whose outputs a compiled value reads, the steps or nodes whose files
--   it reads, and $run if it reads its run.
-- Guarantees: Returns each once. The run context and the element of a map are left out, because
--   every scope has them.
-- Called by: _assemble, _run_outcome.

begin;

create function _qwf.nodes_read(p_value jsonb) returns table (id text, is_files boolean)
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
#variable_conflict use_column
begin
  return query
    select distinct read.id, p -> 0 = '"$files"'
    from _qwf.absolute_paths(p_value) p
    cross join lateral (
      select p ->> 0 as id
      where jsonb_typeof(p -> 0) = 'string'
        and p ->> 0 not in ('$context', '$files', '$item', '$index')
      union all
      select p ->> 1 where p -> 0 = '"$files"'
      union all
      select jsonb_array_elements_text(p -> 0) where jsonb_typeof(p -> 0) = 'array') read;
end $$;

commit;
