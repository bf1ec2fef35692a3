-- 13 tests
select qwf.register_pipeline('{"name": "p", "nodes": [
  {"id": "first"},
  {"id": "second", "depends_on": ["first"], "command": ["x", {"$from": "mode"}],
   "inputs": {"x": {"$from": "frist.slept"}, "y": [{"$from": "frist.slept"}],
     "z": {"$from": "first.slept", "$filter": {"eq:a": {"$from": ["who", "name"]}}}}},
  {"id": "map", "map": {"$from": "images"}, "inputs": {"x": {"$from": "item.x"},
    "v": {"$value": {"$from": "data"}}}}]}');
select qwf.register_workflow(
  '{"name": "w", "steps": [{"id": "s", "kind": "pipeline", "pipeline": "p"}]}');
create function pg_temp.advice() returns text
language sql
as $$ select 'give it in the context of the run' $$;
create function pg_temp.problems(p_context jsonb) returns setof text
language sql
as $$
  select concat_ws('; ', p.path || ': ' || p.problem, p.hint)
  from _qwf.context_problems(_qwf.graph_for('w'), p_context) p
$$;
select results_eq(
  $$ select pg_temp.problems('{"images": [], "who": {"nmae": "A"}, "modes": 1}') $$, array[
    's/second.command[1]: the context has no mode; you gave modes: did you mean mode?',
    's/second.inputs.x: the context has no frist.slept; did you mean first?',
    's/second.inputs.z.$filter.eq:a: the context has no who.name; '
      'you gave nmae: did you mean name?'],
  'each once, with what was probably meant');
select is_empty($$ select pg_temp.problems('{"images": null, "who": {"name": null}, "mode": 2,
  "frist": {"slept": 1}}') $$, 'null is a value');
select results_eq(
  $$ select pg_temp.problems('{"images": [], "who": [], "mode": 2, "frist": {}}') $$, array[
    's/second.inputs.x: the context has no frist.slept; ' || pg_temp.advice(),
    's/second.inputs.z.$filter.eq:a: the context has no who.name; ' || pg_temp.advice()],
  'nothing is similar');

select qwf.register_pipeline('{"name": "p", "nodes": [
  {"id": "up"},
  {"id": "a", "depends_on": ["up"], "inputs": {"x": {"$from": "pipeline.x", "$default": 1},
    "y": {"$from": "y", "$default": 1}, "z": {"$coalesce": [{"$from": "z"}, 2]},
    "o": {"$from": "up.x", "$default": {"$from": "other"}}}},
  {"id": "b", "skip_if": {"$from": "quick"}, "inputs": {"x": {"$from": "bravo"}}},
  {"id": "c", "depends_on": ["up"], "skip_if": {"$from": "up.x"},
    "inputs": {"x": {"$from": "charlie"}}},
  {"id": "d", "run_if": "all_done", "on_failure": "continue",
    "inputs": {"x": {"$from": "delta"}}}]}');
select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "s", "kind": "pipeline", "pipeline": "p"},
  {"id": "q", "kind": "input", "widget": "json", "depends_on": ["s"], "target": "t",
    "prompt": {"$from": "s.q", "$eq": {"$from": "prompt"}}, "default": {"$from": "data"},
    "expires": 9},
  {"id": "t", "kind": "pipeline", "pipeline": "p", "depends_on": ["s", "q"],
    "skip_if": {"$from": "q.t"}, "inputs": {"x": {"$from": "tt"}}},
  {"id": "u", "kind": "pipeline", "pipeline": "p", "depends_on": ["s"],
    "inputs": {"x": [{"$from": "ux"}, {"$from": "s/a.x"}], "y": {"$from": "uy"}}}]}');
select results_eq(format('select pg_temp.problems(%L)', c.context),
  (select array(select x || '; ' || pg_temp.advice() from unnest(c.problems) x)),
  c.description)
from (values
  (jsonb '{"quick": false, "bravo": 1, "delta": 1, "prompt": 1, "ux": 1, "uy": 1}', '{}'::text[],
    'what has a fallback, and what a skip_if over other nodes guards, may be missing'),
  ('{"quick": true, "delta": 1, "prompt": 1, "ux": 1, "uy": 1}', '{}', 'b is skipped'),
  ('{"quick": 0, "delta": 1, "prompt": 1, "ux": 1, "uy": 1}', '{
    "s/b.inputs.x: the context has no bravo",
    "u/b.inputs.x: the context has no bravo",
    "t/b.inputs.x: the context has no bravo"}', 'b is not skipped'),
  ('{"quick": true, "prompt": 1, "ux": 1, "uy": 1}', '{
    "s/d.inputs.x: the context has no delta",
    "u/d.inputs.x: the context has no delta"}', 'run_if and on_failure change nothing'),
  ('{"bravo": 1, "delta": 1, "prompt": 1, "ux": 1, "uy": 1}', '{
    "s/b.skip_if: the context has no quick",
    "u/b.skip_if: the context has no quick",
    "t/b.skip_if: the context has no quick"}', 'a skip_if needs what it reads'),
  ('{"quick": true, "delta": 1, "ux": 1, "uy": 1}', '{
    "q.prompt.$eq: the context has no prompt"}', 'a question needs what it reads'),
  ('{"quick": true, "delta": 1, "prompt": 1, "uy": 1}', '{
    "u.inputs.x[0]: the context has no ux"}', 'an input that reads other nodes as well'),
  ('{"quick": true, "delta": 1, "prompt": 1, "ux": 1}', '{
    "u.inputs.y: the context has no uy"}', 'an input that reads the context alone')
  ) c (context, problems, description);

create function pg_temp.enqueue() returns bigint language sql as $$ select qwf.enqueue_run('w') $$;
select throws_ok('select pg_temp.enqueue()', 'QW005', 'the context does not fit the workflow',
  'enqueue_run refuses');
select throws_ok($$ select qwf.create_schedule('x', workflow => 'w', cron => '@daily') $$,
  'QW005', 'invalid schedule', 'create_schedule refuses');
