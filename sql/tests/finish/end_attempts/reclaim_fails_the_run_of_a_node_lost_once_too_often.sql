-- 2 tests
select qwf_test.workflow('pair',
  '[{"id": "a", "retry": {"max_losses": 1}}, {"id": "b", "depends_on": ["a"]}]');
select qwf.enqueue_run('pair');
select qwf_test.claim(), qwf_test.lapse('s/a');
select is(qwf_test.nodes(), 's/a failed, s/b cancelled', 'no run hangs');
select is(qwf_test.run_state(), 'failed', 'it ends');
