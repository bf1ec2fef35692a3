-- Deploy qwf:functions/graphs/_missing_inputs
-- Purpose: Reports the inputs that a pipeline requires and a step does not give, and those that the
--   step gives and the pipeline does not declare.
-- Guarantees: A pipeline without a schema, or with "additionalProperties": true, accepts any input.
-- Called by: _step_inputs.

begin;

create function _qwf.missing_inputs(p_given jsonb, p_schema jsonb, p_path text, p_what text)
returns setof _qwf.problem
language plpgsql immutable
set search_path = pg_catalog, pg_temp
as $$
begin
  return query
    select format('%s.inputs.%s', p_path, r.name), case p_what
        when 'workflow' then 'is missing: the workflow requires it'
        else 'is missing: the pipeline requires it' end,
      null::text
    from jsonb_array_elements_text(p_schema -> 'required') r (name)
    where not p_given ? r.name
      and not coalesce(p_schema -> 'properties' -> r.name ? 'default', false)
    union all
    select format('%s.inputs.%s', p_path, g.name), case p_what
        when 'workflow' then 'the workflow declares no such input'
        else 'the pipeline declares no such input' end,
      _qwf.did_you_mean(g.name, array(select jsonb_object_keys(p_schema -> 'properties')))
    from jsonb_object_keys(p_given) g (name)
    where p_schema ? 'properties'
      and not p_schema -> 'properties' ? g.name
      and p_schema -> 'additionalProperties' is distinct from 'true';
end $$;

commit;
