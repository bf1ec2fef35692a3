-- Deploy qwf:functions/graphs/_step_names
-- Purpose: Finds what each name that a step and its pipeline use stands for: a step or node
--   upstream, or a problem.
-- Guarantees: Names that are not steps are left out: they are nodes of the pipeline itself, its
--   inputs, or run context.
-- Called by: _compile.

begin;

create function _qwf.step_names(
  p_value jsonb, p_place int, p_order int[], p_places jsonb, p_parts jsonb[],
  p_upstream bit varying, p_waits jsonb)
returns jsonb
language plpgsql stable
set search_path = pg_catalog, pg_temp
as $$
declare
  v_names jsonb := jsonb '{}';
  v_name text;
  v_step text;
  v_place int;
  v_known jsonb;
  v_problem text;
  v_hint text;
begin
  for v_name in  -- read from the text, so data may add names that are not used
    select distinct found.first_segment[1]
    from regexp_matches(p_value::text, '"[$]?from": [[]?"([^".]+)', 'g') found (first_segment)
  loop
    v_step := split_part(v_name, '/', 1);
    v_place := (p_places -> v_step)::int;
    continue when v_place is null;
    v_known := p_parts[v_place] -> 'name';
    v_problem := null;
    v_hint := null;
    if v_place = p_place then
      v_problem := format('"%s" belongs to the same step', v_name);
    elsif v_known is null and not v_place = any (p_order) or v_known ->> 'kind' = 'unknown' then
      v_known := jsonb '{"kind": "unknown"}';  -- a cycle or no pipeline: reported elsewhere
    elsif v_name <> v_step and not coalesce(v_known -> 'nodes' ? v_name, v_known is null) then
      v_problem := format('there is no "%s"', v_name);
      v_hint := _qwf.did_you_mean(v_name, array(
        select k from jsonb_object_keys(v_known -> 'nodes') k where k like '%/%'));
    elsif v_known is null
      or get_bit(p_upstream, v_place - 1) = 0 and not p_waits -> 'partial' ? v_name
    then
      v_problem := format('step "%s" is not upstream: add "%s" to depends_on', v_step, v_step);
      v_hint := 'a reference does not create a dependency; add the step to depends_on'
        ' (a compensation node reads only what it takes back, and what comes before that)';
    elsif v_name <> v_step then
      v_known := v_known -> 'nodes' -> v_name;
    end if;
    v_names := v_names || jsonb_build_object(v_name, case when v_problem is null
      then v_known - 'nodes'
      else jsonb_build_object('kind', 'unknown', 'problem', v_problem, 'hint', v_hint) end);
  end loop;
  return v_names;
end $$;

commit;
