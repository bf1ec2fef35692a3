-- 3 tests
select qwf_test.set_now('2030-01-01');
select qwf.register_workflow('{"name": "w", "steps": [
  {"id": "ask", "kind": "input", "widget": "choose_one", "prompt": "Which?",
    "options": ["cat", "dog"], "target": "pick"}]}');
select qwf.enqueue_run('w', project => 'p');
select qwf_test.travel('5 min');
select qwf.enqueue_run('w');
select results_eq($$
  select run_id, workflow, node_id, project, widget, prompt, since, age from qwf.pending_inputs
  order by since
$$, $$
  values
    (qwf_test.run() - 1, 'w', 'ask', 'p', 'choose_one', 'Which?', '2030-01-01'::timestamptz,
      interval '5 min'),
    (qwf_test.run(), 'w', 'ask', '', 'choose_one', 'Which?', '2030-01-01 00:05', '0 min')
$$, 'what is asked, where, and since when');
select is((select spec -> 'options' from qwf.pending_inputs order by since limit 1),
  '["cat", "dog"]', 'all a form needs');
select is((select job_id from qwf.pending_inputs order by since limit 1),
  (select min(id) from qwf.jobs), 'and its job');
