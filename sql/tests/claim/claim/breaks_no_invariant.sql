select qwf_test.workflow('pair', '[{"id": "a"}, {"id": "b", "depends_on": ["a"]}]');
select qwf.enqueue_run('pair'), qwf.enqueue('mail', queue => 'cpu');
select qwf_test.claim('cpu', 9);
select is_empty($$ select * from qwf.check_invariants() $$,
  'no invariant is broken while jobs run');
