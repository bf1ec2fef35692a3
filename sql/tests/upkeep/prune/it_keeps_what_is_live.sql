-- 3 tests
-- However old: jobs that wait, run, or still have a running body.
select qwf_test.workflow('w', '[{"id": "a"}, {"id": "b"}]');
select qwf.enqueue('waiting');
select qwf.enqueue_run('w');
select qwf_test.claim('cpu', 2);
select qwf_test.report('s/a', 'fatal', error => 'boom');
select qwf_test.travel('99 days');
select is(qwf.prune() - '{workers,events,firings}'::text[],
  '{"runs": 0, "jobs": 0, "minutes": 0, "signals": 0,
    "alerts": 0}',
  'a sibling of the failed run has a body running');
select is((select count(*) from qwf.jobs), 3::bigint, 'nothing is gone');
select is_empty('select * from qwf.check_invariants()', 'healthy');
