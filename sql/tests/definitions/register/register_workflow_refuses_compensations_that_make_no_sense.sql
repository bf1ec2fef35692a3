-- 12 tests
create function problem(p_step jsonb, p_more jsonb default '[]') returns text language plpgsql as $$
declare
  v_detail text;
begin
  perform qwf.register_workflow(jsonb_build_object('name', 'w', 'steps',
    '[{"id": "charge", "node": "charge"}, {"id": "ship", "node": "x", "depends_on": ["charge"]},
      {"id": "tidy", "node": "x", "run_if": "all_done"},
      {"id": "pay", "kind": "pipeline", "pipeline": "pay"}]'::jsonb
    || jsonb_build_array('{"id": "refund", "node": "refund"}'::jsonb || p_step) || p_more));
  return 'ok';
exception
  when sqlstate 'QW003' then
    get stacked diagnostics v_detail = pg_exception_detail;
    return v_detail;
end $$;
select qwf.register_pipeline('{"name": "pay", "nodes": [{"id": "hold"},
  {"id": "take", "depends_on": ["hold"]}, {"id": "free", "compensates": ["hold"]}]}');

select is(problem('{"compensates": ["charge"], "run_if": "all_done"}'),
  'steps[4].compensates: cannot be combined with "run_if"', 'run_if');
select is(problem('{"compensates": ["charge"], "depends_on": ["charge"]}'),
  'steps[4].compensates: cannot be combined with "depends_on"', 'depends_on');
select is(problem('{"compensates": []}'), 'steps[4].compensates: names nothing', 'nothing');
select is(problem('{"compensates": ["chagre"]}'), 'steps[4].compensates[0]: there is no "chagre"',
  'an unknown id');
select is(problem('{"compensates": ["pay/take", "pay/gone"]}'),
  'steps[4].compensates[1]: there is no "pay/gone"', 'an unknown node');
select is(problem('{"compensates": ["pay"]}'), 'steps[4].compensates[0]: "pay" is a pipeline',
  'a whole pipeline');
select is(problem('{"compensates": ["pay/free"]}'),
  'steps[4].compensates[0]: "pay/free" is a compensation node itself', 'a compensation node');
select is(problem('{"compensates": ["tidy"]}'), 'steps[4].compensates[0]: "tidy" has "run_if"',
  'a clean-up node');
select is(problem('{"compensates": ["charge"]}',
    '[{"id": "tell", "node": "x", "depends_on": ["refund"]}]'),
  'steps[4].compensates: only compensation nodes may depend on it', 'a node that depends on it');
select is(problem('{"compensates": ["charge", "ship"]}',
    '[{"id": "a", "node": "x", "depends_on": ["charge"]},
      {"id": "b", "node": "x", "depends_on": ["a", "ship"]},
      {"id": "more", "node": "x", "compensates": ["a"]}]'),
  'ok', 'one node for two in a chain is fine');
select is(problem('{"compensates": ["charge", "late"]}',
    '[{"id": "mid", "node": "x", "depends_on": ["charge"]},
      {"id": "late", "node": "x", "depends_on": ["mid"]},
      {"id": "more", "node": "x", "compensates": ["mid"]}]'),
  'steps: cycle: more -> refund -> more', 'a circle');
select is(problem('{"compensates": ["charge"], "inputs": {"a": {"$from": "ship.a"}}}'),
  'steps[4].inputs.a: step "ship" is not upstream: add "ship" to depends_on',
  'what it does not take back cannot be read');
