-- 2 tests
-- Promise 4: editing a workflow never changes a live run.
select qwf_test.workflow('w',
  '[{"id": "a", "node": "old"}, {"id": "b", "node": "old", "depends_on": ["a"]}]');
select qwf.enqueue_run('w');
select qwf_test.workflow('w', '[{"id": "a", "node": "new"}]');
select qwf_test.attempt('s/a');
select is((select task from qwf.claim('cpu', 'w')), 'old', 'it goes on as it began');
select qwf.enqueue_run('w');
select is((select task from qwf.claim('cpu', 'w')), 'new', 'the next run takes the edit');
