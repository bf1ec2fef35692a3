select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "ask", "kind": "input", "widget": "text"}]}');
select qwf.enqueue_run('w');
select qwf.submit_input(qwf_test.run(), 'ask', '"cat"');
select is((select output from qwf.jobs), '{"value": "cat"}', 'references read ask.value');
