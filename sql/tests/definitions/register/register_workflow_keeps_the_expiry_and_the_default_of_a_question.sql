-- 3 tests
select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "a", "kind": "input", "widget": "json", "expires": "2 days", "default": {"$from": "x"}},
  {"id": "b", "kind": "input", "widget": "json", "expires": 90, "default": null},
  {"id": "c", "kind": "input", "widget": "json", "expires": "1 hour"}]}');
select is(n.input_spec, '{"widget": "json", "expires": "2 days",
  "default": {"$value": {"$from": "x"}}}', 'the default is data')
from qwf_test.compiled('w', 'a') n;
select is(n.input_spec, '{"widget": "json", "expires": "00:01:30", "default": {"$value": null}}',
  'null is a default')
from qwf_test.compiled('w', 'b') n;
select is(n.input_spec, '{"widget": "json", "expires": "01:00:00"}', 'no default is needed')
from qwf_test.compiled('w', 'c') n;
