-- 4 tests
select qwf_test.workflow('w', '[{"id": "a", "on_failure": "continue"}, {"id": "b"},
  {"id": "c", "depends_on": ["b"]}]');
select qwf.enqueue_run('w');
select qwf_test.claim('cpu', 2);
select qwf_test.report('s/a', 'fatal'), qwf_test.report('s/b', 'fatal');
select results_eq(format($$ select job_id, verdict from qwf.retry_jobs('{%s,%s}') $$,
    qwf_test.job('s/b'), qwf_test.job('s/a')),
  format($$ values (%s::bigint, 'retried'), (%s, 'retried') $$,
    qwf_test.job('s/a'), qwf_test.job('s/b')), 'both of its nodes');
select is(qwf_test.nodes(), 's/a queued, s/b queued, s/c blocked', 'with what depends on them');
select is((select count(*)::int from _qwf.event_log where kind = 'retried'), 1, 'one retry');
select is_empty('select * from qwf.check_invariants()', 'the database is healthy');
