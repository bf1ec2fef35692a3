-- Deploy qwf:functions/definitions/_repeat_problems
-- Purpose: Reports what is wrong with the repeat of a node.
-- Guarantees: Never raises, whatever the node holds.
-- Called by: _node_problems.

begin;

create function _qwf.repeat_problems(p_node jsonb, p_path text) returns setof _qwf.problem
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_repeat constant jsonb := _qwf.as_object(p_node -> 'repeat');
begin
  if jsonb_typeof(p_node -> 'repeat') is distinct from 'object' then
    return;
  end if;
  return query select * from _qwf.key_problems(
    v_repeat, _qwf.definition_keys() -> 'repeat', '{until,max}', p_path || '.repeat');
  return query select * from _qwf.skip_problems(v_repeat -> 'until', p_path || '.repeat.until');
  return query
    select p_path || '.repeat', 'cannot be combined with "map"',
      'repeat a step that runs a workflow, and map in that workflow'
    where p_node ? 'map'
    union all
    select p_path || '.repeat.max', 'must be 1 to 1000000', null
    where v_repeat -> 'max' not between '1' and '1000000';
end $$;

commit;
