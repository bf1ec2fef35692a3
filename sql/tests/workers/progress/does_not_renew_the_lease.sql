-- 2 tests
-- Only heartbeat renews a lease: a body that reports progress must not renew it for a dead agent.
select qwf.enqueue('a');
select qwf_test.claim('default');
create temp table lease as select lease_expires_at from qwf.jobs;
select qwf_test.travel('10 s');
select is(qwf.progress(qwf_test.job('a'), qwf_test.token('a'), 0.5), 'ok', 'a beat');
select results_eq('select lease_expires_at from qwf.jobs', 'select lease_expires_at from lease',
  'is no heartbeat');
