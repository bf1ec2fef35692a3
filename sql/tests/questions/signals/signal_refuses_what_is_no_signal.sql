-- 7 tests
select qwf_test.explains($$ select qwf.signal('') $$, 'name: %', 'an empty name');
select qwf_test.explains($$ select qwf.signal(null) $$, 'name: %', 'no name');
select qwf_test.explains($$ select qwf.signal('a', project => null) $$, 'project: %', 'no project');
select qwf_test.explains($$ select qwf.signal('a', keep_for => '1 s') $$, 'keep_for: %00:00:01',
  'too short');
select qwf_test.explains($$ select qwf.signal('a', keep_for => '2 years') $$, 'keep_for: %',
  'too long');
select qwf.change_settings('{"max_value_bytes": 1000}');
select qwf_test.explains($$ select qwf.signal('a', to_jsonb(repeat('x', 1000))) $$,
  'payload has 1002 bytes, at most 1000', 'too large');
select qwf.register_workflow('{"name": "w", "steps": [{"id": "a", "kind": "input",
  "signal": ["a", {"$from": "x"}]}]}');
select qwf.enqueue_run('w', '{"x": [1]}');
select is((select last_error from qwf.jobs),
  'QW005: invalid signal: a part is [1], not a text or a number', 'a name that is none fails');
