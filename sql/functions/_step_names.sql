-- Deploy qwf:functions/_step_names
-- requires: functions/_names
-- requires: functions/_nearest
-- Purpose: What each name that a step and its pipeline use stands for: a step or node upstream, or a problem.
-- Guarantees: Names that are no step are left out: they are nodes of the pipeline itself, its inputs, or run context.
-- Called by: _compile.

begin;

create function qwf._step_names(
  p_value jsonb, p_place int, p_order int[], p_places jsonb, p_parts jsonb[], p_upstream bit varying, p_waits jsonb)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_names jsonb := '{}';
  v_name text;
  v_step text;
  v_place int;
  v_known jsonb;
begin
  for v_name in select n from qwf._names(p_value) n loop
    v_step := split_part(v_name, '/', 1);
    v_place := p_places -> v_step;
    v_known := p_parts[v_place] -> 'name';
    if v_place is not null then
      v_names := v_names || jsonb_build_object(v_name, case
        when v_place = p_place then
          jsonb_build_object('kind', 'unknown', 'problem', format('"%s" belongs to this very step', v_name))
        when v_known is null and not v_place = any (p_order) or v_known ->> 'kind' = 'unknown' then
          jsonb '{"kind": "unknown"}'
        when v_name <> v_step and not coalesce(v_known -> 'nodes' ? v_name, v_known is null) then
          jsonb_build_object('kind', 'unknown', 'problem', format('there is no "%s"', v_name),
            'hint', 'did you mean ' || qwf._nearest(v_name,
              array(select k from jsonb_object_keys(v_known -> 'nodes') k where k like '%/%')) || '?')
        when v_known is null or get_bit(p_upstream, v_place - 1) = 0 and not p_waits -> 'partial' ? v_name then
          jsonb_build_object('kind', 'unknown',
            'problem', format('step "%s" is not upstream: add "%s" to depends_on', v_step, v_step),
            'hint', 'a reference makes no dependency; add the step to depends_on')
        when v_name <> v_step then v_known -> 'nodes' -> v_name
        else v_known - 'nodes'
      end);
    end if;
  end loop;
  return v_names;
end $$;

comment on function qwf._step_names(jsonb, int, int[], jsonb, jsonb[], bit varying, jsonb) is
  'Returns what each step or node name stands for that the references of a step and its pipeline start from.';
revoke all on function qwf._step_names(jsonb, int, int[], jsonb, jsonb[], bit varying, jsonb) from public;

commit;
