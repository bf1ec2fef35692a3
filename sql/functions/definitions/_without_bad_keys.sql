-- Deploy qwf:functions/definitions/_without_bad_keys
-- Purpose: Returns a workflow without the keys of its node steps that have problems, so that the
--   rest can be compiled and all problems are found at once.
-- Guarantees: Keeps what compiling tolerates whatever it holds: inputs, command, skip_if, map,
--   repeat, delay.
--   Never raises.
-- Called by: register_workflow, workflow_graph.

begin;

create function _qwf.without_bad_keys(p_workflow jsonb) returns jsonb
language sql stable
set search_path = pg_catalog, pg_temp
as $$
  select p_workflow || jsonb_build_object('steps', jsonb_agg(
    case when _qwf.step_kind(_qwf.as_object(s.item)) in ('node', 'workflow') then
      s.item - array(
      select k.key
      from (
        select split_part(p.path, '.', 2) as key
        from unnest(_qwf.misfits(s.item, '{"$ref": "#/$defs/any_step"}', 'steps')) p) k
      where k.key not in (
        'id', 'kind', 'workflow', 'depends_on', 'inputs', 'command', 'skip_if', 'map',
        'repeat', 'delay'))
    else s.item end order by s.place))
  from jsonb_array_elements(p_workflow -> 'steps') with ordinality as s (item, place)
  having count(*) > 0
  union all
  select p_workflow where jsonb_array_length(p_workflow -> 'steps') = 0
$$;

commit;
