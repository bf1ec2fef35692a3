-- 2 tests
select qwf_test.workflow('p', '[{"id": "a"}]');
select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "s", "kind": "pipeline", "pipeline": "p"},
  {"id": "ask", "kind": "input", "widget": "text", "depends_on": ["s"]}]}');
select qwf.enqueue_run('w');
select throws_ok($$ select qwf.submit_input(qwf_test.run(), 'ask', '"cat"') $$, 'QW002',
  'not asked yet', 'too early');
select qwf_test.explains($$ select qwf.submit_input(qwf_test.run(), 'ask', '"cat"') $$,
  '%ask%blocked%',
  'the error names its status');
