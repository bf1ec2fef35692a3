-- Deploy qwf:functions/definitions/_input_problems
-- Purpose: Reports what is wrong with the inputs of a node or a step, in object or list form.
-- Guarantees: Returns one row per problem. Problems in the value of an input are reported under its
--   name.
-- Called by: _node_problems, _step_problems.

begin;

create function _qwf.input_problems(p_inputs jsonb, p_path text) returns setof _qwf.problem
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    select format('%s[%s]', p_path, i.place - 1), 'must be an object with "name" and "from"',
      null::text
    from jsonb_array_elements(_qwf.as_list(p_inputs)) with ordinality as i (item, place)
    where jsonb_typeof(i.item) <> 'object'
    union all
    select p.*
    from _qwf.items(p_inputs) i
    cross join lateral _qwf.key_problems(
      i.item, _qwf.definition_keys() -> 'input', '{name,from}',
      format('%s[%s]', p_path, i.place - 1)) p
    union all
    select format('%s[%s].name', p_path, i.place - 1), format('"%s" is given twice', i.name), null
    from (
      select l.place, l.item ->> 'name' as name,
        row_number() over (partition by l.item ->> 'name' order by l.place) as nth
      from _qwf.items(p_inputs) l) i
    where i.nth > 1 and i.name is not null
    union all
    select p_path, 'must not be an expression: give each input by name',
      'write {"<name>": {"$from": ...}}'
    from jsonb_object_keys(_qwf.as_object(p_inputs)) k
    where starts_with(k, '$')
    union all
    select p.* from _qwf.expression_problems(_qwf.named_inputs(p_inputs), p_path) p;
end $$;

commit;
