-- 2 tests
select results_eq($$ select qwf_test.step_problems('{"kind": "input", "widget": "tick",
  "options": ["x", "y"], "expires": 9, "default": "z"}') $$,
  array['steps[1].default: is not one of the options'], 'not an option');
select is_empty($$ select qwf_test.step_problems('{"kind": "input", "widget": "tick",
  "depends_on": ["q"], "options": [{"$from": "q.value"}], "expires": 9, "default": "z"}') $$,
  'only a run knows these options');
