-- Deploy qwf:functions/definitions/_interface_problems
-- Purpose: Reports what is wrong with the inputs and outputs that a pipeline or a workflow
--   declares.
-- Guarantees: Returns one row per problem, with its JSON path. References are not looked up.
-- Called by: _pipeline_problems, _workflow_problems.

begin;

create function _qwf.interface_problems(p_definition jsonb) returns setof _qwf.problem
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
begin
  if p_definition ? 'inputs' then
    return query select * from _qwf.definition_schema_problems(p_definition -> 'inputs', 'inputs');
    return query
      select 'inputs.type', 'must be "object"', null::text
      where p_definition #> '{inputs,type}' <> '"object"';
  end if;
  if exists (
    select from jsonb_object_keys(_qwf.as_object(p_definition -> 'outputs')) k
    where starts_with(k, '$')
  ) then
    return next row('outputs', 'must not be an expression: give each output by name',
      'write {"<name>": {"$from": ...}}')::_qwf.problem;
  else
    return query select * from _qwf.expression_problems(p_definition -> 'outputs', 'outputs');
  end if;
  return query
    select 'outputs.files', '"files" is reserved', 'choose another name for this export'
    where exists (select from _qwf.expressions(p_definition #> '{outputs,files}', ''));
end $$;

commit;
