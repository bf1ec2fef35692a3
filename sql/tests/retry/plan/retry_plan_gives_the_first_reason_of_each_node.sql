-- 7 tests
-- new, named, definition, context, files, failed; then what follows from the nodes before.
create function pg_temp.planned(p_from text default null, p_context jsonb default null)
returns table (node text, verdict text, because text) language sql as $$
  select p.node_id, p.verdict, p.because from qwf.retry_plan(
    qwf_test.run(), p_from, true, p_context) p $$;

select qwf.register_pipeline('{"name": "p", "nodes": [{"id": "x"}, {"id": "y"}, {"id": "z"}]}');
select qwf.register_pipeline('{"name": "q", "nodes": [
  {"id": "day", "inputs": {"day": {"$from": "at.day"}}},
  {"id": "album", "inputs": {"f": {"$from": "first.files"}}, "queue": "cpu"},
  {"id": "skipped", "skip_if": {"$from": "at.skip"}},
  {"id": "other", "inputs": {"n": 1}, "timeout": "1 min"},
  {"id": "m", "map": [1, 2, 3], "inputs": {"e": {"$from": "item"}}},
  {"id": "last", "depends_on": ["day", "other"]}]}');
select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "first", "kind": "pipeline", "pipeline": "p"},
  {"id": "then", "kind": "pipeline", "pipeline": "q", "depends_on": ["first"]}]}');
select qwf.enqueue_run('w', '{"at": {"day": 1, "skip": true}}');
select qwf_test.work();
select qwf_test.attempt('then/day');
select qwf_test.attempt('then/album');
select qwf_test.attempt('then/other');
select qwf_test.attempt('then/m[0]');
select qwf_test.attempt('then/m[1]', 'fatal');
select is(qwf_test.run_state(), 'failed', 'an element failed');

select results_eq('select * from pg_temp.planned()', $$ values
  ('first/x', 'reused', null), ('first/y', 'reused', null), ('first/z', 'reused', null),
  ('then/day', 'reused', null), ('then/album', 'reused', null), ('then/skipped', 'reused', null),
  ('then/other', 'reused', null),
  ('then/m', 'runs again', 'it failed; elements reused: 1 of 3'),
  ('then/last', 'runs again', 'it was cancelled') $$, 'a map keeps its completed elements');
select results_eq(
  $$ select * from pg_temp.planned('then/m[0]') where node in ('then/m', 'then/day') $$, $$ values
  ('then/day', 'reused', null),
  ('then/m', 'runs again', 'its element then/m[0] was named; elements reused: 0 of 3') $$,
  'except one that is named');
select results_eq(
  $$ select * from pg_temp.planned('then/m', '{"at": {"day": 2, "skip": true}}')
     where verdict <> 'reused' $$, $$ values
  ('then/day', 'runs again', 'it reads at.day of the context, which changed'),
  ('then/m', 'runs again', 'it was named'),
  ('then/last', 'runs again', 'it was cancelled') $$,
  'of the context only what changed counts, also within a value');

select qwf.register_pipeline('{"name": "p", "nodes": [{"id": "x"}, {"id": "z"}]}');
select qwf.register_pipeline('{"name": "q", "nodes": [
  {"id": "fresh"},
  {"id": "day", "inputs": {"day": {"$from": "at.day"}}, "depends_on": ["fresh"]},
  {"id": "album", "inputs": {"f": {"$from": "first.files"}}, "queue": "gpu"},
  {"id": "skipped", "skip_if": {"$from": "at.skip"}},
  {"id": "other", "inputs": {"n": 2}, "timeout": "1 min"},
  {"id": "m", "map": [1, 2, 3], "inputs": {"e": {"$from": "item"}}, "min_success": 1,
   "max_parallel": 1, "timeout": "2 min", "queue": "gpu"},
  {"id": "last", "depends_on": ["day", "other"]}]}');
select results_eq('select * from pg_temp.planned()', $$ values
  ('first/x', 'reused', null), ('first/z', 'reused', null),
  ('then/fresh', 'new', 'it is new'),
  ('then/album', 'runs again', 'it reads files of first/y, which is gone'),
  ('then/skipped', 'reused', null),
  ('then/other', 'runs again', 'its definition changed'),
  ('then/m', 'runs again', 'it failed; elements reused: 1 of 3'),
  ('then/day', 'runs again', 'then/fresh is new'),
  ('then/last', 'runs again', 'it was cancelled'),
  ('first/y', 'removed', 'the definition no longer has it') $$,
  'queue, timeout, max_parallel and min_success do not make a result');

select qwf.retry_run(qwf_test.run(), latest => true);
select is(qwf_test.nodes(), 'first/x completed, first/z completed, then/fresh queued, '
  'then/album queued, then/skipped skipped, then/other queued, then/m blocked, then/day blocked, '
  'then/last blocked, then/m[0] completed, then/m[1] queued, then/m[2] blocked',
  'it does as planned, one element at a time');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
