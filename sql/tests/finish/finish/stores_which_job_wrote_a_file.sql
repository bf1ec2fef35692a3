select qwf_test.workflow('one', '[{"id": "a"}]');
select qwf.enqueue_run('one');
select qwf_test.attempt('s/a', detail => '{"files": [{"rel_path": "s/a/x"}]}');
select results_eq('select run_id, node_id, job_id from qwf.run_files', $$
  values (qwf_test.run(), 's/a', qwf_test.job('s/a')) $$, 'of a run and a node');
