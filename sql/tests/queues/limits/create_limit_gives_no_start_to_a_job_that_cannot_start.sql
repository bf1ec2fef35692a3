-- 3 tests
-- An unresolvable reference fails the job in the claim itself.
select qwf.create_limit('smtp', starts => 1, per => '1 hour');
select qwf_test.workflow('w', '[{"id": "a"},
  {"id": "b", "depends_on": ["a"], "limit_by": "smtp", "inputs": {"x": {"$from": "a.nothing"}}}]');
select qwf.enqueue_run('w');
select qwf_test.attempt('s/a');
select is(qwf_test.claim(), 'claimed nothing', 'it cannot start');
select is(qwf_test.state('s/b'), 'failed', 'it failed');
select qwf.enqueue('c', queue => 'cpu', limit_by => 'smtp');
select is(qwf_test.claim(), 'claimed c', 'the start is left for another');
