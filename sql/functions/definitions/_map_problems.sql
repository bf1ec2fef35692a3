-- Deploy qwf:functions/definitions/_map_problems
-- Purpose: Reports what is wrong with the map of a node, and with the keys that need one.
-- Guarantees: Never raises, whatever the node holds.
-- Called by: _node_problems.

begin;

create function _qwf.map_problems(p_node jsonb, p_path text) returns setof _qwf.problem
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_minimum jsonb := p_node -> 'min_success';
begin
  return query
    select p_path || '.map', 'is neither a list nor an expression',
      'write {"$from": "<node>.<key>"}, or a list'
    where jsonb_typeof(p_node -> 'map') = 'object'
      and not exists (select from _qwf.expressions(p_node -> 'map', '') e where e.path = '')
    union all
    select p.* from _qwf.expression_problems(p_node -> 'map', p_path || '.map') p
    union all
    select p_path || '.' || k, 'needs a "map"', 'set "map" to the list that the node runs over'
    from unnest(array['max_parallel', 'min_success', 'stop_when_reached']) k
    where p_node ? k and not p_node ? 'map'
    union all
    select p_path || '.max_parallel', 'must be 1 to 1000000', null
    where p_node -> 'max_parallel' not between '1' and '1000000'
    union all
    select p_path || '.min_success', 'must be a number of elements or a percentage',
      'write it like 3 or "90%"'
    where case jsonb_typeof(v_minimum)
      when 'number' then v_minimum not between '0' and '1000000'
      when 'string' then v_minimum #>> '{}' !~ '^(100|[1-9]?[0-9])%$'
    end
    union all
    select p_path || '.stop_when_reached', 'needs "min_success"',
      'set "min_success" to the number of elements that are enough'
    where p_node -> 'stop_when_reached' = 'true' and p_node ? 'map'
      and not p_node ? 'min_success'
    union all
    select p_path || '.min_success', 'must be at least 1 with "stop_when_reached"', null
    where p_node -> 'stop_when_reached' = 'true' and v_minimum in ('0', '"0%"')
    union all
    select p_path || '.min_success', 'is more than the number of elements in "map"', null
    where jsonb_typeof(v_minimum) = 'number'
      and v_minimum > to_jsonb(jsonb_array_length(_qwf.as_list(p_node -> 'map')))
      and jsonb_typeof(p_node -> 'map') = 'array';
end $$;

commit;
