-- 8 tests
-- An element of a map that failed is null in its list: nobody can choose it.
select qwf_test.workflow('p', '[{"id": "a"},
  {"id": "each", "depends_on": ["a"], "map": [1, 2, 3], "min_success": 1,
   "inputs": {"n": {"$from": "item"}}}]');
select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "s", "kind": "pipeline", "pipeline": "p"},
  {"id": "ask", "kind": "input", "widget": "choose_one", "depends_on": ["s"],
   "source": {"$from": "s/each"}},
  {"id": "all", "kind": "input", "widget": "choose_one", "depends_on": ["s"], "multiple": true,
   "options": {"$from": "s/each"}},
  {"id": "look", "kind": "input", "widget": "text", "depends_on": ["s"],
   "source": {"$from": "s/each"}},
  {"id": "written", "kind": "input", "widget": "choose_one", "depends_on": ["s"],
   "options": ["a", null]}]}');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/a');
select qwf_test.attempt('s/each[0]', 'fatal');
select is(qwf_test.work(), 2, 'the other elements complete');
select is((select spec -> 'source' from qwf.pending_inputs where node_id = 'ask'),
  '[{"n": 2}, {"n": 3}]', 'the failed one is left out');
select is((select spec -> 'options' from qwf.pending_inputs where node_id = 'all'),
  '[{"n": 2}, {"n": 3}]', 'also where several may be chosen');
select is((select spec #> '{source,0}' from qwf.pending_inputs where node_id = 'look'),
  'null', 'a source that is only to look at is whole');
select throws_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', 'null') $$, 'QW005', null,
  'it cannot be chosen');
select lives_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', '{"n": 3}') $$, 'another can');
select lives_ok($$ select qwf.submit_input(qwf_test.run(), 'written', 'null') $$,
  'a null that the definition lists is an option');
select is(_qwf.without_null_options('{"options": {"$from": "x"}}',
  '{"widget": "json", "options": [null, [null], [], {"a": null}, false], "source": [null]}'),
  '{"widget": "json", "options": [[null], [], {"a": null}, false], "source": [null]}',
  'a list or an object with a null in it stays');
