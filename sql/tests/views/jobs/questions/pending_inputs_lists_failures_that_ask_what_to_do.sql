-- 3 tests
select qwf_test.workflow('w', '[{"id": "a", "on_failure": "ask"}, {"id": "m", "map": [7],
  "inputs": {"x": {"$from": "item"}}, "on_failure": "ask"}]');
select qwf.enqueue_run('w');
select qwf.enqueue('mail', on_failure => 'ask', project => 'p');
select qwf_test.attempt('s/a', 'fatal', error => 'boom');
select qwf_test.attempt('s/m[0]', 'fatal', error => 'bang');
select qwf_test.attempt('mail', 'fatal', error => 'bump');
select set_eq($$
  select workflow, node_id, task, project, asks, spec ->> 'error' from qwf.pending_inputs
$$, $$
  values
    ('w', 's/a', 'a', '', 'failure', 'boom'), ('w', 's/m[0]', 'm', '', 'failure', 'bang'),
    (null, null, 'mail', 'p', 'failure', 'bump')
$$, 'nodes, elements of maps and standalone jobs');
select is((select spec -> 'options' from qwf.pending_inputs where task = 'a'),
  '["retry", "skip", "abort"]', 'what may be answered');
select qwf.answer_job(qwf_test.job('mail'), '"abort"');
select is((select count(*) from qwf.pending_inputs), 2::bigint, 'until it is');
